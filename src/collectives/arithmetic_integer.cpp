#include <type_traits>

#include "collectives/arithmetic.hpp"
#include "collectives/arithmetic_loops.hpp"

namespace baton::collectives {
namespace {

/// An unsigned type in which sums and products of T wrap without being undefined.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Product {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

template <class T>
void reduce_as(std::byte* to, std::span<const std::byte* const> from, std::size_t count, ReduceOp op,
               std::uint32_t divisor) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg: return reduce_stored<T, Sum>(to, from, count, divisor);
    case ReduceOp::prod: return reduce_stored<T, Product>(to, from, count, divisor);
    case ReduceOp::min: return reduce_stored<T, Min>(to, from, count, divisor);
    case ReduceOp::max: return reduce_stored<T, Max>(to, from, count, divisor);
  }
}

}  // namespace

void reduce_integers(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                     ReduceOp op, std::uint32_t divisor) {
  switch (element) {
    case Element::int8: return reduce_as<std::int8_t>(to, from, count, op, divisor);
    case Element::int16: return reduce_as<std::int16_t>(to, from, count, op, divisor);
    case Element::int32: return reduce_as<std::int32_t>(to, from, count, op, divisor);
    case Element::int64: return reduce_as<std::int64_t>(to, from, count, op, divisor);
    case Element::uint8: return reduce_as<std::uint8_t>(to, from, count, op, divisor);
    case Element::uint16: return reduce_as<std::uint16_t>(to, from, count, op, divisor);
    case Element::uint32: return reduce_as<std::uint32_t>(to, from, count, op, divisor);
    case Element::uint64: return reduce_as<std::uint64_t>(to, from, count, op, divisor);
    case Element::float64:
    case Element::float32:
    case Element::float16:
    case Element::bfloat16: break;
  }
}

}  // namespace baton::collectives
