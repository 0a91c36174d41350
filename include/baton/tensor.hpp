// Tensors: views of memory with up to five dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <baton/dtype.hpp>
#include <baton/export.hpp>

namespace baton {

inline constexpr int kMaxDims = 5;

/// Addresses are compared only within one space.
enum class MemorySpace : std::uint32_t {
  host = 0,            // what this process addresses
  window = 1,          // of chips of a node, each in its own process: addresses are the node's own numbering
  token = 0xffffffff,  // no memory: the address is the number of a token
};

/// The memory behind a tensor.
struct Buffer {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  MemorySpace space = MemorySpace::host;
  /// Given by the runtime to the outputs it allocates, and never given twice; 0: memory of somebody else.
  std::uint64_t id = 0;
};

/// A value: copies are cheap and refer to the same memory, which the tensor does not own. Offsets, extents and strides
/// count elements; strides may be negative or zero. Every element lies inside the buffer. A function that would break
/// this, or make a dimension without elements, throws Error (invalid_argument or out_of_range) with the dimension and
/// the numbers.
class BATON_API Tensor {
 public:
  using Extents = std::span<const std::int64_t>;

  /// No buffer and no elements: usable only as a target of assignment.
  Tensor() = default;
  /// Row-major, from the start of `buffer`.
  Tensor(const Buffer& buffer, DType dtype, Extents shape);
  Tensor(const Buffer& buffer, DType dtype, Extents shape, Extents strides, std::int64_t offset = 0);
  Tensor(const Buffer& buffer, DType dtype, std::initializer_list<std::int64_t> shape)
      : Tensor(buffer, dtype, Extents(shape.begin(), shape.size())) {}
  Tensor(const Buffer& buffer, DType dtype, std::initializer_list<std::int64_t> shape,
         std::initializer_list<std::int64_t> strides, std::int64_t offset = 0)
      : Tensor(buffer, dtype, Extents(shape.begin(), shape.size()), Extents(strides.begin(), strides.size()), offset) {}

  /// One dimension over all of `data`.
  template <class T>
  [[nodiscard]] static Tensor over(std::span<T> data) {
    const std::int64_t extent[] = {static_cast<std::int64_t>(data.size())};
    return Tensor(buffer_of(data), kDTypeOf<T>, Extents(extent));
  }
  /// Row-major, of the given shape, over the start of `data`.
  template <class T>
  [[nodiscard]] static Tensor over(std::span<T> data, std::initializer_list<std::int64_t> shape) {
    return Tensor(buffer_of(data), kDTypeOf<T>, shape);
  }
  template <class T>
  [[nodiscard]] static Buffer buffer_of(std::span<T> data) noexcept {
    return {.address = reinterpret_cast<std::uint64_t>(data.data()), .bytes = data.size_bytes()};
  }
  /// Without elements: one extent at least is 0. It has no memory and no views; kernels see its shape.
  [[nodiscard]] static Tensor empty(DType dtype, Extents shape);
  /// Carries an edge and no data. Tokens of the same number are the same.
  [[nodiscard]] static Tensor token(std::uint64_t number);

  [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] int dims() const noexcept { return dims_; }
  [[nodiscard]] Extents shape() const noexcept { return {shape_.data(), static_cast<std::size_t>(dims_)}; }
  [[nodiscard]] Extents strides() const noexcept { return {strides_.data(), static_cast<std::size_t>(dims_)}; }
  [[nodiscard]] std::int64_t extent(int dim) const { return shape_[checked(dim, "extent")]; }
  [[nodiscard]] std::int64_t stride(int dim) const { return strides_[checked(dim, "stride")]; }
  /// From the start of the buffer to the first element.
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }
  /// Of the first element.
  [[nodiscard]] std::uint64_t address() const noexcept {
    return buffer_.address + static_cast<std::uint64_t>(offset_) * size_of(dtype_);
  }
  [[nodiscard]] std::int64_t element_count() const noexcept;
  [[nodiscard]] bool is_empty() const noexcept { return buffer_.bytes == 0; }
  /// Whether the elements follow each other without gaps in row-major order.
  [[nodiscard]] bool is_contiguous() const noexcept {
    std::int64_t expected = 1;
    for (std::size_t dim = static_cast<std::size_t>(dims_); dim-- > 0;) {
      if (shape_[dim] != 1 && strides_[dim] != expected) return false;
      expected *= shape_[dim];
    }
    return true;
  }

  /// Elements begin, begin + step, ... below `end` of the first dimension, or of `dim`. step >= 1.
  [[nodiscard]] Tensor slice(std::int64_t begin, std::int64_t end, std::int64_t step = 1) const {
    return slice_dim(0, begin, end, step);
  }
  [[nodiscard]] Tensor slice_dim(int dim, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const;
  /// Element `position` of `dim`, which disappears; index() takes the first dimension.
  [[nodiscard]] Tensor select(int dim, std::int64_t position) const;
  [[nodiscard]] Tensor index(std::int64_t position) const { return select(0, position); }
  /// `dim` backwards: its stride changes sign.
  [[nodiscard]] Tensor reverse(int dim) const;
  /// Exchanges two dimensions.
  [[nodiscard]] Tensor transpose(int a, int b) const;
  /// Dimension i of the result is dimension order[i] of this one.
  [[nodiscard]] Tensor permute(std::span<const int> order) const;
  [[nodiscard]] Tensor permute(std::initializer_list<int> order) const {
    return permute(std::span<const int>(order.begin(), order.size()));
  }
  /// The same elements in row-major order under another shape, without a copy; an Error says why where strides forbid
  /// it.
  [[nodiscard]] Tensor reshape(Extents shape) const;
  [[nodiscard]] Tensor reshape(std::initializer_list<std::int64_t> shape) const {
    return reshape(Extents(shape.begin(), shape.size()));
  }
  /// The same bytes as elements of another type: the last dimension grows or shrinks.
  [[nodiscard]] Tensor reinterpret(DType dtype) const;

  /// For messages: "float32[4, 8] strides [16, 1] offset 3 of 512 bytes at 0x...".
  [[nodiscard]] std::string describe() const;

 private:
  /// `dim` as an index, or an Error in the name of `action`.
  [[nodiscard]] std::size_t checked(int dim, const char* action) const;
  void check_reach() const;

  Buffer buffer_;
  std::int64_t offset_ = 0;
  std::array<std::int64_t, kMaxDims> shape_{};
  std::array<std::int64_t, kMaxDims> strides_{};
  std::int32_t dims_ = 0;
  DType dtype_ = DType::uint8;
};

}  // namespace baton
