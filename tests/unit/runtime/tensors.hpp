// What is in a tensor of a chip, for tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <baton/chip.hpp>

namespace baton::test {

template <class T>
[[nodiscard]] std::vector<T> values_of(Chip& chip, const Tensor& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.element_count()));
  chip.copy_out<T>(tensor, std::span(values));
  return values;
}

/// The first element, as a signal.
[[nodiscard]] inline std::int32_t* word_of(const Tensor& tensor) {
  return reinterpret_cast<std::int32_t*>(tensor.address());
}

}  // namespace baton::test
