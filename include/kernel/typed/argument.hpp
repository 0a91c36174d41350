// In, Out and InOut: a kernel's tensor arguments as views with an element type.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <tensor.h>
#include <baton/kernel_handle.hpp>
#include <pto/common/global_tensor.hpp>
#include <pto/target/fail.hpp>

namespace baton::kernel {

/// A view of a tensor in global memory. Owns nothing; `Element` is const if the kernel only reads.
template <typename Element, int kDims>
class TensorArgument {
 public:
  using DType = Element;
  using Line = pto::GlobalTensor<Element, pto::Shape<1, 1, 1, 1, pto::DYNAMIC>,
                                 pto::Stride<pto::DYNAMIC, pto::DYNAMIC, pto::DYNAMIC, pto::DYNAMIC, 1>>;
  using Block = pto::GlobalTensor<Element, pto::Shape<1, 1, 1, pto::DYNAMIC, pto::DYNAMIC>,
                                  pto::Stride<pto::DYNAMIC, pto::DYNAMIC, pto::DYNAMIC, pto::DYNAMIC, 1>>;
  using Whole = pto::GlobalTensor<Element, pto::Shape<>, pto::Stride<>>;

  static_assert(kDims == BATON_ANY_DIMS || (kDims >= 1 && kDims <= 5), "a tensor has 1 to 5 dimensions");

  AICORE explicit TensorArgument(const ChipTensor* tensor) : tensor_(tensor) {}

  AICORE Element* data() const { return reinterpret_cast<Element*>(tensor_->buffer.addr) + tensor_->start_offset; }
  AICORE int ndims() const { return kDims == BATON_ANY_DIMS ? static_cast<int>(tensor_->ndims) : kDims; }
  AICORE int64_t shape(int dim) const { return tensor_->shapes[dim]; }
  /// Counts elements.
  AICORE int64_t stride(int dim) const { return tensor_->strides[dim]; }
  /// The number of elements.
  AICORE int64_t size() const { return ndims() == 1 ? shape(0) : size_of_many(*this); }
  /// Whether the elements follow each other in memory, the last dimension fastest.
  AICORE bool is_packed() const {
    if (ndims() == 1) return stride(0) == 1 || shape(0) <= 1;
    int64_t packed = 1;
    for (int dim = ndims() - 1; dim >= 0; --dim) {
      if (shape(dim) > 1 && stride(dim) != packed) return false;
      packed *= shape(dim);
    }
    return true;
  }
  AICORE const ChipTensor& descriptor() const { return *tensor_; }

  /// `count` elements from element `first` of a packed tensor, as one line.
  AICORE Line line(int64_t first, int64_t count, Where where = Where::current()) const {
    if (kChecks && !(ndims() == 1 && stride(0) == 1 && is_part(first, count, shape(0)))) {
      check_line(*this, first, count, where);
    }
    return Line(data() + first, typename Line::Shape(count), typename Line::Stride(count, count, count, count));
  }
  /// All elements of a packed tensor, as one line.
  AICORE Line line(Where where = Where::current()) const {
    // Most tensors have one dimension.
    int64_t count = shape(0);
    if (!(ndims() == 1 && stride(0) == 1 && count > 0)) count = length_of_line(*this, where);
    return Line(data(), typename Line::Shape(count), typename Line::Stride(count, count, count, count));
  }

  /// `rows` times `cols` elements from (row, col) of a tensor of two dimensions.
  AICORE Block block(int64_t row, int64_t col, int64_t rows, int64_t cols, Where where = Where::current()) const {
    static_assert(kDims == BATON_ANY_DIMS || kDims == 2, "block() is for tensors of two dimensions");
    if (kChecks && !(ndims() == 2 && (shape(1) <= 1 || stride(1) == 1) && is_part(row, rows, shape(0)) &&
                     is_part(col, cols, shape(1)))) {
      refuse_block(*this, row, col, rows, cols, where);
    }
    const int64_t pitch = stride(0);
    return Block(data() + row * pitch + col, typename Block::Shape(rows, cols),
                 typename Block::Stride(rows * pitch, rows * pitch, rows * pitch, pitch));
  }
  /// All of a tensor of two dimensions.
  AICORE Block block(Where where = Where::current()) const { return block(0, 0, shape(0), shape(1), where); }

  /// The whole tensor, whatever its dimensions; those it lacks are in front and have the extent 1.
  AICORE Whole global() const {
    int64_t shapes[5] = {1, 1, 1, 1, 1};
    int64_t strides[5] = {0, 0, 0, 0, 1};
    for (int dim = 0; dim < ndims(); ++dim) {
      shapes[5 - ndims() + dim] = shape(dim);
      strides[5 - ndims() + dim] = stride(dim);
    }
    return Whole(data(), pto::Shape<>(shapes[0], shapes[1], shapes[2], shapes[3], shapes[4]),
                 pto::Stride<>(strides[0], strides[1], strides[2], strides[3], strides[4]));
  }

 private:
  PTO_INLINE AICORE static bool is_part(int64_t first, int64_t count, int64_t size) {
    return first >= 0 && count >= 1 && count <= size && first <= size - count;
  }
  AICORE static void check_part(const BatonPlace& place, const char* what, int64_t first, int64_t count, int64_t size) {
    if (is_part(first, count, size)) return;
    fail(place, BATON_KERNEL_OUT_OF_RANGE, what, first, " to ", first + count, " of a tensor that has ", size);
  }

  // Out of the way of kernels that do nothing unusual.
  PTO_OUTLINED AICORE static int64_t size_of_many(TensorArgument tensor) {
    int64_t count = 1;
    for (int dim = 0; dim < tensor.ndims(); ++dim) count *= tensor.shape(dim);
    return count;
  }
  PTO_OUTLINED AICORE static int64_t length_of_line(TensorArgument tensor, Where where) {
    const int64_t count = tensor.size();
    if (kChecks) check_line(tensor, 0, count, where);
    return count;
  }
  PTO_OUTLINED AICORE static void check_line(TensorArgument tensor, int64_t first, int64_t count, Where where) {
    const BatonPlace place = place_of("line", where);
    if (!tensor.is_packed()) {
      fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the elements of the tensor do not follow each other; use block()");
    }
    check_part(place, "elements ", first, count, tensor.size());
  }
  PTO_COLD AICORE static void refuse_block(TensorArgument tensor, int64_t row, int64_t col, int64_t rows, int64_t cols,
                                           Where where) {
    const BatonPlace place = place_of("block", where);
    const int dims = tensor.ndims();
    if (dims != 2) {
      fail(place, BATON_KERNEL_INVALID_ARGUMENT, "block() is for tensors of 2 dimensions, this one has ", dims);
    }
    if (tensor.shape(1) > 1 && tensor.stride(1) != 1) {
      fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the elements of a row are ", tensor.stride(1), " apart; must be 1");
    }
    check_part(place, "rows ", row, rows, tensor.shape(0));
    check_part(place, "columns ", col, cols, tensor.shape(1));
  }

  const ChipTensor* tensor_;
};

}  // namespace baton::kernel

namespace baton {

template <typename Element, int kDims>
class In : public kernel::TensorArgument<const Element, kDims> {
 public:
  using kernel::TensorArgument<const Element, kDims>::TensorArgument;
};

template <typename Element, int kDims>
class Out : public kernel::TensorArgument<Element, kDims> {
 public:
  using kernel::TensorArgument<Element, kDims>::TensorArgument;
};

template <typename Element, int kDims>
class InOut : public kernel::TensorArgument<Element, kDims> {
 public:
  using kernel::TensorArgument<Element, kDims>::TensorArgument;
};

}  // namespace baton
