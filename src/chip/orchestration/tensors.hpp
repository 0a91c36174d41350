// Between descriptors, which authors of orchestrations use, and tensors, which graphs use.
#pragma once

#include <chip_tensor.h>
#include <baton/tensor.hpp>

namespace baton::orchestration {

/// Throws Error for a descriptor that describes no tensor.
[[nodiscard]] baton::Tensor tensor_of(const ChipTensor& descriptor);
/// Nobody created it.
[[nodiscard]] ChipTensor descriptor_of(const baton::Tensor& tensor);

}  // namespace baton::orchestration
