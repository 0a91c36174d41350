// The set of bytes that a tensor covers, in canonical form: equal sets that differ only in how the tensor is written
// (order and direction of dimensions, extents of 1, contiguous dimensions, element type) are equal views.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include <baton/tensor.hpp>

#include "chip/graph/index_table.hpp"

namespace baton::graph {

/// `extent` copies, `stride` bytes apart. extent >= 2, stride >= 1.
struct ViewDim {
  std::uint64_t extent;
  std::uint64_t stride;
  friend bool operator==(const ViewDim&, const ViewDim&) = default;
};

/// Runs of `run` bytes that begin at `start` plus each sum of multiples of the strides. Dimensions are ordered by
/// descending stride.
struct View {
  std::uint64_t start = 0;
  std::uint64_t run = 0;
  MemorySpace space = MemorySpace::host;
  std::uint32_t dims = 0;
  std::array<ViewDim, kMaxDims> dim{};
  // The allocation, where it is not registered. Not part of the identity.
  std::uint64_t buffer_begin = 0;
  std::uint64_t buffer_end = 0;

  /// One past the last byte.
  [[nodiscard]] std::uint64_t end() const noexcept {
    std::uint64_t result = start + run;
    for (std::uint32_t i = 0; i < dims; ++i) result += (dim[i].extent - 1) * dim[i].stride;
    return result;
  }
  [[nodiscard]] bool same_bytes(const View& other) const noexcept {
    if (start != other.start || run != other.run || dims != other.dims || space != other.space) return false;
    for (std::uint32_t i = 0; i < dims; ++i) {
      if (!(dim[i] == other.dim[i])) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint32_t hash() const noexcept { return hash_of_place(place()); }
  /// Of the view that lies `rows` rows further.
  [[nodiscard]] std::uint32_t hash_further(std::uint64_t rows) const noexcept {
    return hash_of_place(place() + (rows << IndexTable::kRowBits));
  }

 private:
  [[nodiscard]] unsigned run_log2() const noexcept { return 63U - static_cast<unsigned>(std::countl_zero(run)); }
  /// Which one it is among adjacent views of its length, where that is a power of two.
  [[nodiscard]] std::uint64_t place() const noexcept { return start >> run_log2(); }
  [[nodiscard]] std::uint32_t hash_of_place(std::uint64_t place) const noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    const std::uint64_t rest = start & ((std::uint64_t{1} << run_log2()) - 1);
    const std::uint64_t row = (place >> IndexTable::kRowBits) ^ (rest << 32U);
    std::uint64_t mixed = (row ^ (run * kOdd)) * kOdd + static_cast<std::uint32_t>(space);
    for (std::uint32_t i = 0; i < dims; ++i) {
      mixed = (mixed ^ (mixed >> 32)) * kOdd + dim[i].extent;
      mixed = (mixed ^ (mixed >> 32)) * kOdd + dim[i].stride;
    }
    return IndexTable::hash_in_row((mixed ^ (mixed >> 29)) * kOdd, place);
  }
};

namespace detail {
/// For every tensor; view_of() knows the simple ones.
[[nodiscard]] View general_view_of(const Tensor& tensor) noexcept;
}  // namespace detail

[[nodiscard]] inline View view_of(const Tensor& tensor) noexcept {
  const auto element = static_cast<std::int64_t>(size_of(tensor.dtype()));
  const auto shape = tensor.shape();
  const auto strides = tensor.strides();
  // Row-major tensors and tiles of matrices: what the inner dimensions leave without a gap, and one dimension at most.
  std::int64_t run = element;
  ViewDim outer{1, 0};
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    const auto extent = static_cast<std::uint64_t>(shape[i]);
    const std::int64_t stride = strides[i] * element;
    if (outer.extent == 1) {
      if (stride == run) {
        run *= shape[i];
        continue;
      }
      if (stride < run) return detail::general_view_of(tensor);
      outer = {extent, static_cast<std::uint64_t>(stride)};
    } else {
      if (static_cast<std::uint64_t>(stride) != outer.extent * outer.stride) return detail::general_view_of(tensor);
      outer.extent *= extent;
    }
  }
  View view;
  view.start = tensor.address();
  view.run = static_cast<std::uint64_t>(run);
  view.space = tensor.buffer().space;
  view.dims = outer.extent == 1 ? 0 : 1;
  view.dim[0] = outer;
  view.buffer_begin = tensor.buffer().address;
  view.buffer_end = view.buffer_begin + tensor.buffer().bytes;
  return view;
}

}  // namespace baton::graph
