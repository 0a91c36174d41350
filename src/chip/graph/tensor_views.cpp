// Views of views: each is made by arithmetic on offset, shape and strides.
#include <fmt/ranges.h>

#include <baton/tensor.hpp>

#include "base/fail.hpp"

namespace baton {

Tensor Tensor::slice_dim(int dim, std::int64_t begin, std::int64_t end, std::int64_t step) const {
  const std::size_t d = checked(dim, "a slice");
  if (begin < 0 || end > shape_[d] || begin >= end) {
    fail(Situation::outside_tensor, "slice [{}, {}) of dimension {}, which has {} elements{}", begin, end, dim,
         shape_[d], begin == end ? "; a slice needs at least one" : "");
  }
  if (step < 1) {
    fail(Situation::tensor_shape, "slice [{}, {}) of dimension {} with step {}; a step is at least 1 (reverse() turns)",
         begin, end, dim, step);
  }
  Tensor result = *this;
  result.offset_ += begin * strides_[d];
  result.shape_[d] = (end - begin - 1) / step + 1;
  // With one element left the stride has no meaning, and the product could overflow.
  if (result.shape_[d] > 1) result.strides_[d] *= step;
  return result;
}

Tensor Tensor::select(int dim, std::int64_t position) const {
  const std::size_t d = checked(dim, "a selection");
  if (position < 0 || position >= shape_[d]) {
    fail(Situation::outside_tensor, "element {} of dimension {}, which has {}", position, dim, shape_[d]);
  }
  Tensor result = *this;
  result.offset_ += position * strides_[d];
  --result.dims_;
  for (auto i = d; i < static_cast<std::size_t>(result.dims_); ++i) {
    result.shape_[i] = shape_[i + 1];
    result.strides_[i] = strides_[i + 1];
  }
  return result;
}

Tensor Tensor::reverse(int dim) const {
  const std::size_t d = checked(dim, "a reversal");
  Tensor result = *this;
  if (shape_[d] == 1) return result;
  result.offset_ += (shape_[d] - 1) * strides_[d];
  result.strides_[d] = -strides_[d];
  return result;
}

Tensor Tensor::transpose(int a, int b) const {
  const std::size_t first = checked(a, "a transposition");
  const std::size_t second = checked(b, "a transposition");
  Tensor result = *this;
  std::swap(result.shape_[first], result.shape_[second]);
  std::swap(result.strides_[first], result.strides_[second]);
  return result;
}

Tensor Tensor::permute(std::span<const int> order) const {
  if (order.size() != static_cast<std::size_t>(dims_)) {
    fail(Situation::tensor_shape, "a permutation of {} dimensions for a tensor that has {}", order.size(), dims_);
  }
  Tensor result = *this;
  unsigned seen = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t from = checked(order[i], "a permutation");
    if ((seen >> from & 1U) != 0) {
      fail(Situation::tensor_shape, "the permutation {} names dimension {} twice", order, order[i]);
    }
    seen |= 1U << from;
    result.shape_[i] = shape_[from];
    result.strides_[i] = strides_[from];
  }
  return result;
}

Tensor Tensor::reshape(Extents shape) const {
  Tensor result(buffer_, dtype_, {});
  result.dims_ = static_cast<std::int32_t>(shape.size());
  result.offset_ = offset_;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i >= kMaxDims || shape[i] < 1 || __builtin_mul_overflow(count, shape[i], &count)) {
      fail(Situation::tensor_shape,
           "{} cannot get shape {}: at most {} dimensions of at least 1 element (dimension {})", describe(), shape,
           kMaxDims, i);
    }
    result.shape_[i] = shape[i];
  }
  if (count != element_count()) {
    fail(Situation::tensor_shape, "{} has {} elements and cannot get shape {}, which has {}", describe(),
         element_count(), shape, count);
  }
  // From the last dimension on, the new ones split runs of old ones that follow each other without a gap. A new
  // dimension that would have to span two runs has no stride.
  std::size_t old = static_cast<std::size_t>(dims_);
  std::int64_t left = 1;  // elements of the run at hand that no new dimension has taken yet
  std::int64_t stride = 1;
  const auto take_run = [&] {
    while (shape_[old - 1] == 1) --old;
    stride = strides_[--old];
    left = shape_[old];
    while (old > 0 && (shape_[old - 1] == 1 || strides_[old - 1] == stride * left)) left *= shape_[--old];
  };
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (left == 1 && shape[i] > 1) take_run();
    if (left % shape[i] != 0) {
      fail(Situation::tensor_shape,
           "{} cannot get shape {} without a copy: dimension {} of it has {} elements, but only {} in a row have one "
           "stride, from dimension {} on",
           describe(), shape, i, shape[i], left, old);
    }
    result.strides_[i] = stride;
    left /= shape[i];
    stride *= shape[i];
  }
  return result;
}

Tensor Tensor::reinterpret(DType dtype) const {
  const auto from = static_cast<std::int64_t>(size_of(dtype_));
  const auto to = static_cast<std::int64_t>(size_of(dtype));
  Tensor result = *this;
  result.dtype_ = dtype;
  if (from == to) return result;
  if (dims_ == 0) {
    result.dims_ = 1;
    result.shape_[0] = 1;
    result.strides_[0] = 1;
  }
  const auto last = static_cast<std::size_t>(result.dims_ - 1);
  if (result.shape_[last] > 1 && result.strides_[last] != 1) {
    fail(Situation::tensor_shape, "{} cannot be read as {}: its last dimension has stride {}, not 1", describe(),
         name_of(dtype), strides_[last]);
  }
  result.strides_[last] = 1;
  const auto rescale = [&](std::int64_t elements, std::string_view what, std::size_t dim) {
    const std::int64_t bytes = elements * from;
    if (bytes % to != 0) {
      fail(Situation::tensor_misaligned,
           "{} cannot be read as {}: {} of dimension {} is {} bytes, not a multiple of {}", describe(), name_of(dtype),
           what, dim, bytes, to);
    }
    return bytes / to;
  };
  result.offset_ = rescale(offset_, "the offset before the first element", 0);
  result.shape_[last] = rescale(result.shape_[last], "the extent", last);
  for (std::size_t dim = 0; dim < last; ++dim) {
    if (shape_[dim] > 1) result.strides_[dim] = rescale(strides_[dim], "the stride", dim);
  }
  if (result.address() % static_cast<std::uint64_t>(to) != 0) {
    fail(Situation::tensor_misaligned, "{} cannot be read as {}: its address is not a multiple of {}", describe(),
         name_of(dtype), to);
  }
  return result;
}

}  // namespace baton
