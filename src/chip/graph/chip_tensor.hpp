// A tensor as kernels receive it.
#pragma once

#include <tensor.h>
#include <baton/tensor.hpp>

namespace baton::graph {

/// The address space of a token, which has no memory.
inline constexpr std::uint8_t kTokenSpace = 0xff;

/// Throws Error (out_of_range) for an extent or stride that kernels cannot represent: above 32 bits, or negative.
/// `owner_task` is the task that produces the tensor; 0: none.
[[nodiscard]] ChipTensor to_chip_tensor(const baton::Tensor& tensor, std::uint64_t owner_task = 0);

}  // namespace baton::graph
