#include "collectives/arithmetic.hpp"
#include "collectives/arithmetic_loops.hpp"

namespace baton::collectives {
namespace {

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Product {
  template <class T>
  static T of(T a, T b) {
    return a * b;
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

void reduce_floats(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                   ReduceOp op, std::uint32_t divisor) {
  if (element == Element::float64) return reduce_as<double>(to, from, count, op, divisor);
  reduce_as<float>(to, from, count, op, divisor);
}

}  // namespace baton::collectives
