// The same value in every element of a contiguous tensor.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include <baton/tensor.hpp>

namespace baton::chip {

/// One element of any type.
using ElementBytes = std::array<std::byte, 8>;

inline void fill_elements(const Tensor& tensor, const ElementBytes& value) {
  const std::size_t element = size_of(tensor.dtype());
  const std::size_t bytes = static_cast<std::size_t>(tensor.element_count()) * element;
  auto* begin = reinterpret_cast<std::byte*>(tensor.address());
  std::memcpy(begin, value.data(), element);
  // What is filled is copied behind itself.
  for (std::size_t done = element; done < bytes;) {
    const std::size_t more = std::min(done, bytes - done);
    std::memcpy(begin + done, begin, more);
    done += more;
  }
}

}  // namespace baton::chip
