// Which elements the tiles of a core can combine.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/tile_lines.hpp>
#include <pto/common/element_of.hpp>

namespace baton::collectives {

using kernel::element_of;

/// Those that tiles have: is_known() is for the host alone, and so are operations on bits.
[[nodiscard]] AICORE constexpr bool is_operation(ReduceOp op) { return op <= ReduceOp::avg; }

/// The vector unit has no other numbers, and divides no integers.
[[nodiscard]] AICORE constexpr bool can_combine(Element element, ReduceOp op) {
  if (!is_operation(op)) return false;
  switch (element) {
    case Element::float32:
    case Element::float16:
    case Element::bfloat16: return true;
    case Element::int16:
    case Element::int32: return op != ReduceOp::avg;
    case Element::float64:
    case Element::int8:
    case Element::int64:
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64: break;
  }
  return false;
}

/// Combines elements of one type. Nothing else of a kernel that uses one type has to be compiled.
template <typename T>
struct OneElement {
  static constexpr bool kCombines = can_combine(element_of<T>(), ReduceOp::sum);

  AICORE static void combine(Element /*element*/, std::byte* to, int sources, const LineSource& source, int64_t count,
                             ReduceOp op, uint32_t divisor) {
    if constexpr (kCombines) combine_lines(reinterpret_cast<T*>(to), sources, source, count, op, divisor);
  }
};

}  // namespace baton::collectives
