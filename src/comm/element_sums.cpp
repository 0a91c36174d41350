#include "comm/element_sums.hpp"

#include <cstdint>
#include <cstring>

#include <pto/instructions/numbers.hpp>
#include <pto/target/atomics.hpp>

namespace baton::comm {
namespace {

template <typename Number, typename Operation>
bool change_numbers(std::byte* to, std::span<const std::byte> values, Operation operation) noexcept {
  if (values.size() % sizeof(Number) != 0 || reinterpret_cast<std::uintptr_t>(to) % sizeof(Number) != 0) return false;
  for (std::size_t at = 0; at < values.size(); at += sizeof(Number)) {
    Number value;
    std::memcpy(&value, values.data() + at, sizeof value);
    kernel::atomic_update(reinterpret_cast<Number*>(to + at), value, operation);
  }
  return true;
}

template <typename Number>
bool change_numbers_as(wire::ElementChange change, std::byte* to, std::span<const std::byte> values) noexcept {
  switch (change) {
    case wire::ElementChange::replace: break;
    case wire::ElementChange::add: return change_numbers<Number>(to, values, kernel::AddNumbers{});
    case wire::ElementChange::max: return change_numbers<Number>(to, values, kernel::LargerNumber{});
    case wire::ElementChange::min: return change_numbers<Number>(to, values, kernel::SmallerNumber{});
  }
  return false;
}

}  // namespace

bool change_elements(wire::ElementChange change, Element element, std::byte* to,
                     std::span<const std::byte> values) noexcept {
  if (change == wire::ElementChange::replace) {
    std::memcpy(to, values.data(), values.size());
    return true;
  }
  switch (element) {
    case Element::float32: return change_numbers_as<float>(change, to, values);
    case Element::float16: return change_numbers_as<half>(change, to, values);
    case Element::bfloat16: return change_numbers_as<bfloat16_t>(change, to, values);
    case Element::int8: return change_numbers_as<std::int8_t>(change, to, values);
    case Element::int16: return change_numbers_as<std::int16_t>(change, to, values);
    case Element::int32: return change_numbers_as<std::int32_t>(change, to, values);
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
