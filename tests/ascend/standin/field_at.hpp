// What programs pass as bytes.
#pragma once

#include <cstddef>
#include <cstring>

namespace standin {

/// The field of a structure that lies at `offset`.
template <class Value>
[[nodiscard]] Value field_at(const void* structure, std::size_t offset) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(structure) + offset, sizeof value);
  return value;
}

}  // namespace standin
