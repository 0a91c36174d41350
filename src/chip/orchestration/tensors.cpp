#include "chip/orchestration/tensors.hpp"

#include <array>

#include "base/fail.hpp"
#include "chip/graph/chip_tensor.hpp"

namespace baton::orchestration {

baton::Tensor tensor_of(const ChipTensor& descriptor) {
  const std::size_t dims = descriptor.ndims;
  if (dims < 1 || dims > kMaxDims) {
    fail(Code::invalid_argument, "a tensor of {} dimensions; it has 1 to {}", dims, kMaxDims);
  }
  if (static_cast<int>(descriptor.dtype) >= kDTypeCount) {
    fail(Code::invalid_argument, "a tensor of the unknown type {}", static_cast<int>(descriptor.dtype));
  }
  const auto dtype = static_cast<DType>(descriptor.dtype);
  std::array<std::int64_t, kMaxDims> shape{};
  std::array<std::int64_t, kMaxDims> strides{};
  bool empty = false;
  for (std::size_t i = 0; i < dims; ++i) {
    shape[i] = descriptor.shapes[i];
    strides[i] = descriptor.strides[i];
    empty = empty || shape[i] == 0;
  }
  if (empty) return baton::Tensor::empty(dtype, {shape.data(), dims});
  const Buffer buffer{.address = descriptor.buffer.addr,
                      .bytes = descriptor.buffer.size,
                      .space = descriptor.address_space == graph::kTokenSpace ? MemorySpace::token : MemorySpace::host,
                      .id = descriptor.output_id};
  return {
      buffer, dtype, {shape.data(), dims}, {strides.data(), dims}, static_cast<std::int64_t>(descriptor.start_offset)};
}

ChipTensor descriptor_of(const baton::Tensor& tensor) {
  ChipTensor made = graph::to_chip_tensor(tensor);
  made.owner_task_id = PTO2TaskId::invalid();
  made.output_id = tensor.buffer().id;
  return made;
}

}  // namespace baton::orchestration
