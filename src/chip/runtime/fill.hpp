// The same value in every element of a contiguous tensor.
#pragma once

#include <array>
#include <cstddef>

#include <baton/tensor.hpp>

#include "chip/device/chip_memory.hpp"

namespace baton::chip {

/// One element of any type.
using ElementBytes = std::array<std::byte, 8>;

inline void fill_elements(ChipMemory& memory, const Tensor& tensor, const ElementBytes& value) {
  memory.fill(tensor.address(), value.data(), size_of(tensor.dtype()),
              static_cast<std::size_t>(tensor.element_count()));
}

}  // namespace baton::chip
