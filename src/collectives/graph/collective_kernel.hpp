// The kernel that does a collective of a graph, or one slice of it.
//
// An algorithm that only meets is cut at its meetings: slice k does what lies between meeting k and the next one, at
// which it arrives; then its task is deferred until all have arrived, and the task of the next slice goes on. The last
// slice does nothing but wait for the last meeting, after which the room may be used again.
#pragma once

#include <cstdint>

#include <baton/collective_types.hpp>
#include <collectives/work.hpp>

namespace baton::collectives {

/// Not cut: the kernel waits on its core.
inline constexpr int kWhole = -1;

/// What the kernel does; one scalar argument. A message has no operation of collectives: it is a barrier here, and
/// `root` is the rank that x goes to, -1 if it goes nowhere.
struct Slice {
  Operation operation;
  Element element;
  ReduceOp op;
  Algorithm algorithm;
  std::int16_t root;
  std::int8_t slice;
  std::int8_t slices;
};
static_assert(sizeof(Slice) == 8);

/// How many slices there are: one more than meetings. 0: the algorithm cannot be cut.
[[nodiscard]] constexpr int slices_of(Operation operation, Algorithm algorithm) noexcept {
  if (algorithm == Algorithm::one_phase) return 3;
  if (algorithm != Algorithm::mesh) return 0;
  return operation == Operation::allreduce || operation == Operation::reduce ? 4 : 3;
}

/// The slices of a message: before and after the wait for a piece of another rank; then the wait until one's own piece
/// has been taken.
[[nodiscard]] constexpr int message_slices(int to, int from) noexcept {
  return 1 + (to >= 0 ? 1 : 0) + (from >= 0 ? 1 : 0);
}

}  // namespace baton::collectives

/// Tensors: x, y, room. Scalars: the context, a Slice, elements of a block of x or y (of a message: the rank that y
/// comes from, or -1), the first element and the number of elements of this piece, bytes of the room of one block. Each
/// block of the task does a share of the piece in a room of its own.
extern "C" void baton_collective_kernel(std::int64_t* args);
