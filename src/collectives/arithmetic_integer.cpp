#include <type_traits>

#include "collectives/arithmetic.hpp"
#include "collectives/arithmetic_loops.hpp"

namespace baton::collectives {
namespace {

/// An unsigned type in which sums and products of T wrap without being undefined.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

struct IntegerSum {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct IntegerProduct {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

}  // namespace

void reduce_integers(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                     ReduceOp op, std::uint32_t divisor) {
  switch (element) {
    case Element::int8: return reduce_stored<std::int8_t, IntegerSum, IntegerProduct>(to, from, count, op, divisor);
    case Element::int16: return reduce_stored<std::int16_t, IntegerSum, IntegerProduct>(to, from, count, op, divisor);
    case Element::int32: return reduce_stored<std::int32_t, IntegerSum, IntegerProduct>(to, from, count, op, divisor);
    case Element::int64: return reduce_stored<std::int64_t, IntegerSum, IntegerProduct>(to, from, count, op, divisor);
    case Element::uint8: return reduce_stored<std::uint8_t, IntegerSum, IntegerProduct>(to, from, count, op, divisor);
    case Element::uint16: return reduce_stored<std::uint16_t, IntegerSum, IntegerProduct>(to, from, count, op, divisor);
    case Element::uint32: return reduce_stored<std::uint32_t, IntegerSum, IntegerProduct>(to, from, count, op, divisor);
    case Element::uint64: return reduce_stored<std::uint64_t, IntegerSum, IntegerProduct>(to, from, count, op, divisor);
    case Element::float64:
    case Element::float32:
    case Element::float16:
    case Element::bfloat16: break;
  }
}

}  // namespace baton::collectives
