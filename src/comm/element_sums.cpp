#include "comm/element_sums.hpp"

#include <cstdint>
#include <cstring>

#include <pto/instructions/numbers.hpp>
#include <pto/target/atomics.hpp>

namespace baton::comm {
namespace {

template <typename Number>
bool add_numbers_to(std::byte* to, std::span<const std::byte> addends) noexcept {
  if (addends.size() % sizeof(Number) != 0 || reinterpret_cast<std::uintptr_t>(to) % sizeof(Number) != 0) return false;
  for (std::size_t at = 0; at < addends.size(); at += sizeof(Number)) {
    Number addend;
    std::memcpy(&addend, addends.data() + at, sizeof addend);
    kernel::atomic_update(reinterpret_cast<Number*>(to + at), addend, kernel::AddNumbers{});
  }
  return true;
}

}  // namespace

bool add_elements(Element element, std::byte* to, std::span<const std::byte> addends) noexcept {
  switch (element) {
    case Element::float32: return add_numbers_to<float>(to, addends);
    case Element::float16: return add_numbers_to<half>(to, addends);
    case Element::bfloat16: return add_numbers_to<bfloat16_t>(to, addends);
    case Element::int8: return add_numbers_to<std::int8_t>(to, addends);
    case Element::int16: return add_numbers_to<std::int16_t>(to, addends);
    case Element::int32: return add_numbers_to<std::int32_t>(to, addends);
    case Element::float64:
    case Element::int64:
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64: break;
  }
  return false;
}

}  // namespace baton::comm
