// Descriptors of tensors, as kernels receive them.
#pragma once

#include <baton/platform.h>
#include <baton/error.hpp>

#include <chip_tensor.h>

namespace baton::platforms {

inline ChipTensor tensor_of(const BatonDeviceArgument& given) {
  ChipTensor tensor{};
  tensor.buffer = {given.address, given.bytes};
  tensor.start_offset = static_cast<std::uint64_t>(given.offset);
  tensor.dtype = static_cast<DataType>(given.dtype);
  tensor.ndims = given.dims;
  for (std::uint32_t d = 0; d < given.dims; ++d) {
    tensor.shapes[d] = static_cast<std::uint32_t>(given.shape[d]);
    tensor.strides[d] = static_cast<std::uint32_t>(given.strides[d]);
  }
  return tensor;
}

/// `flags` of a task with that number of scalars.
inline void refuse_queue_without_scalar(std::uint32_t flags, std::size_t scalars) {
  if ((flags & BATON_TASK_QUEUE) == 0 || scalars != 0) return;
  throw Error(Code::invalid_argument, "a task with a completion queue has no scalar for its address");
}

}  // namespace baton::platforms
