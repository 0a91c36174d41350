// What collectives on all levels name: elements, operations on them, algorithms.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton {

/// What the elements of a collective are.
enum class Element : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
};

/// How elements of different ranks become one. Sums and products of integers wrap; avg divides the sum, towards zero.
/// 16-bit floats are added as floats and rounded when they are stored. Bits are those of integers.
enum class ReduceOp : std::uint8_t { sum, prod, min, max, avg, bit_and, bit_or, bit_xor };

/// How a collective is done; docs/explanation/collectives.md shows each of them.
enum class Algorithm : std::uint8_t {
  automatic,
  exchange,            // everybody reads what everybody offers
  meeting,             // the last to arrive combines for all
  eager,               // one side offers and goes on
  fetch,               // everybody fetches from one, which waits for that
  read,                // the same, or from all, out of any memory, by a call of the system
  write,               // everybody gives it to one, into any memory, by a call of the system
  one_phase,           // everybody works on all of everybody's data
  mesh,                // everybody works on its share of everybody's data
  ring,                // shares travel from neighbour to neighbour
  bidirectional_ring,  // half of each share in each direction, in step
  interleaved_ring,    // each share from both sides to its rank, and back to both
  recursive_halving,   // with partners at half, a quarter, ... of the ranks, and back
  tree,                // to a root and back
  bruck,               // blocks travel by powers of two, several at once
};

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(Element element) noexcept {
  switch (element) {
    case Element::int8:
    case Element::uint8: return 1;
    case Element::float16:
    case Element::bfloat16:
    case Element::int16:
    case Element::uint16: return 2;
    case Element::float32:
    case Element::int32:
    case Element::uint32: return 4;
    case Element::float64:
    case Element::int64:
    case Element::uint64: return 8;
  }
  return 1;
}

/// Whether it is one of those above; any number can be cast to one.
[[nodiscard]] constexpr bool is_known(Element element) noexcept { return element <= Element::uint64; }
[[nodiscard]] constexpr bool is_known(ReduceOp op) noexcept { return op <= ReduceOp::bit_xor; }
/// Whether it works on the bits of elements, which floats do not offer.
[[nodiscard]] constexpr bool is_bitwise(ReduceOp op) noexcept { return op >= ReduceOp::bit_and; }
[[nodiscard]] constexpr bool is_integer(Element element) noexcept { return element >= Element::int8; }

}  // namespace baton
