#include "collectives/arithmetic.hpp"

namespace baton::collectives {

void reduce_elements(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                     ReduceOp op, std::uint32_t divisor) {
  switch (element) {
    case Element::float64:
    case Element::float32: return reduce_floats(to, from, count, element, op, divisor);
    case Element::float16:
    case Element::bfloat16: return reduce_narrow_floats(to, from, count, element, op, divisor);
    case Element::int8:
    case Element::int16:
    case Element::int32:
    case Element::int64:
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64: return reduce_integers(to, from, count, element, op, divisor);
  }
}

}  // namespace baton::collectives
