// Descriptors of tensors, as kernels receive them.
#pragma once

#include <baton/platform.h>

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

}  // namespace baton::platforms
