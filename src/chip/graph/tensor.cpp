#include <baton/tensor.hpp>

#include <fmt/ranges.h>

#include "base/fail.hpp"

namespace baton {
namespace {

/// Spans of bytes stay below this, so that sums and differences of addresses fit into 64 bits with a sign.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 61;

void check_buffer(const Buffer& buffer) {
  if (buffer.bytes > kMaxBytes || buffer.address > kMaxBytes * 2) {
    fail(Situation::tensor_shape, "a tensor's buffer of {} bytes at {:#x} exceeds what Baton addresses (2^61 bytes)",
         buffer.bytes, buffer.address);
  }
}

void check_shape(Tensor::Extents shape) {
  if (shape.size() > kMaxDims) {
    fail(Situation::tensor_shape, "a tensor has at most {} dimensions, not {}", kMaxDims, shape.size());
  }
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] < 1) {
      fail(Situation::tensor_shape, "dimension {} of a tensor of shape {} has {} elements; it needs at least 1", dim,
           shape, shape[dim]);
    }
  }
  std::int64_t count = 1;
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    if (__builtin_mul_overflow(count, shape[dim], &count)) {
      fail(Situation::tensor_shape, "a tensor of shape {} has more elements than 64 bits count (from dimension {} on)",
           shape, dim);
    }
  }
}

}  // namespace

Tensor::Tensor(const Buffer& buffer, DType dtype, Extents shape)
    : buffer_(buffer), dims_(static_cast<std::int32_t>(shape.size())), dtype_(dtype) {
  check_buffer(buffer);
  check_shape(shape);
  std::int64_t count = 1;
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    shape_[dim] = shape[dim];
    strides_[dim] = count;
    count *= shape[dim];
  }
  check_reach();
}

Tensor::Tensor(const Buffer& buffer, DType dtype, Extents shape, Extents strides, std::int64_t offset)
    : buffer_(buffer), offset_(offset), dims_(static_cast<std::int32_t>(shape.size())), dtype_(dtype) {
  check_buffer(buffer);
  check_shape(shape);
  if (shape.size() != strides.size()) {
    fail(Situation::tensor_shape, "a tensor of {} dimensions was given {} strides", shape.size(), strides.size());
  }
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    shape_[dim] = shape[dim];
    strides_[dim] = strides[dim];
  }
  check_reach();
}

void Tensor::check_reach() const {
  std::int64_t lowest = offset_;
  std::int64_t highest = offset_;
  const auto available = static_cast<std::int64_t>(buffer_.bytes / size_of(dtype_));
  for (std::size_t dim = 0; dim < static_cast<std::size_t>(dims_); ++dim) {
    std::int64_t reach = 0;
    std::int64_t& end = strides_[dim] < 0 ? lowest : highest;
    if (__builtin_mul_overflow(shape_[dim] - 1, strides_[dim], &reach) || __builtin_add_overflow(end, reach, &end)) {
      fail(Situation::outside_tensor,
           "dimension {} ({} elements with stride {}) of a tensor leaves what 64 bits address", dim, shape_[dim],
           strides_[dim]);
    }
  }
  if (lowest >= 0 && highest < available) return;
  for (std::size_t dim = 0; dim < static_cast<std::size_t>(dims_); ++dim) {
    const std::int64_t reach = (shape_[dim] - 1) * strides_[dim];
    if (reach >= available || -reach >= available) {
      fail(Situation::outside_tensor,
           "dimension {} ({} elements with stride {}) leaves the buffer of {} {} elements: {}", dim, shape_[dim],
           strides_[dim], available, name_of(dtype_), describe());
    }
  }
  fail(Situation::outside_tensor, "elements {} to {} are needed of a buffer that holds {} of type {}: {}", lowest,
       highest, available, name_of(dtype_), describe());
}

Tensor Tensor::empty(DType dtype, Extents shape) {
  if (shape.size() > kMaxDims) {
    fail(Code::invalid_argument, "a tensor has at most {} dimensions, not {}", kMaxDims, shape.size());
  }
  Tensor made;
  made.dtype_ = dtype;
  made.dims_ = static_cast<std::int32_t>(shape.size());
  bool has_none = false;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] < 0) {
      fail(Code::invalid_argument, "dimension {} of an empty tensor has {} elements", dim, shape[dim]);
    }
    has_none = has_none || shape[dim] == 0;
    made.shape_[dim] = shape[dim];
    made.strides_[dim] = 1;
  }
  if (!has_none) fail(Code::invalid_argument, "an empty tensor of shape {} would have elements", shape);
  return made;
}

Tensor Tensor::token(std::uint64_t number) {
  // As wide as what kernels that take it see, and no two overlap.
  constexpr std::uint64_t kBytes = size_of(DType::int32);
  return Tensor({.address = kBytes * number, .bytes = kBytes, .space = MemorySpace::token}, DType::int32, {1});
}

std::size_t Tensor::checked(int dim, const char* action) const {
  if (dim < 0 || dim >= dims_) {
    fail(Situation::outside_tensor, "{} of dimension {}: the tensor has {} ({})", action, dim, dims_, describe());
  }
  return static_cast<std::size_t>(dim);
}

std::int64_t Tensor::element_count() const noexcept {
  std::int64_t count = buffer_.bytes == 0 ? 0 : 1;
  for (const std::int64_t extent : shape()) count *= extent;
  return count;
}

std::string Tensor::describe() const {
  return fmt::format("{}[{}] strides [{}] offset {} of {} bytes at {:#x}", name_of(dtype_), fmt::join(shape(), ", "),
                     fmt::join(strides(), ", "), offset_, buffer_.bytes, buffer_.address);
}

}  // namespace baton
