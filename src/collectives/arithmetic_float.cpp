#include "collectives/arithmetic.hpp"
#include "collectives/arithmetic_loops.hpp"

namespace baton::collectives {
namespace {

struct FloatSum {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct FloatProduct {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};

}  // namespace

void reduce_floats(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                   ReduceOp op, std::uint32_t divisor) {
  if (element == Element::float64) return reduce_stored<double, FloatSum, FloatProduct>(to, from, count, op, divisor);
  reduce_stored<float, FloatSum, FloatProduct>(to, from, count, op, divisor);
}

}  // namespace baton::collectives
