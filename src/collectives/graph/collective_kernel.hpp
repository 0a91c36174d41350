// The kernels that do a collective of a graph, or one slice of it.
//
// An algorithm that only meets is cut at its meetings: slice k does what lies between meeting k and the next one, at
// which it arrives; then its task is deferred until all have arrived, and the task of the next slice goes on. The last
// slice does nothing but wait for the last meeting, after which the room may be used again.
#pragma once

#include <cstdint>

#include <baton/collective_types.hpp>
#include <collectives/task.hpp>

namespace baton::collectives {

/// How many slices there are: one more than meetings. 0: the algorithm cannot be cut. Data passes through the room.
[[nodiscard]] constexpr int slices_of(Operation operation, Algorithm algorithm) noexcept {
  if (algorithm == Algorithm::one_phase) return 3;
  if (algorithm != Algorithm::mesh) return 0;
  return operation == Operation::allreduce || operation == Operation::reduce ? 4 : 3;
}

/// Data in windows is used where it is: three slices, between two meetings and around them. Where others write to this
/// rank's output, it is complete after the second meeting: the third slice looks at why the wait for it ended, and a
/// fourth, which is not run, would do what is done at the end of others.
inline constexpr int kWindowSlices = 3;
[[nodiscard]] constexpr int window_slices_cut(bool others_write) noexcept {
  return others_write ? kWindowSlices + 1 : kWindowSlices;
}

/// The slices of a message: before and after the wait for a piece of another rank; then the wait until one's own piece
/// has been taken, and a look at why it ended.
[[nodiscard]] constexpr int message_slices(int to, int from) noexcept {
  return 1 + (to >= 0 ? 2 : 0) + (from >= 0 ? 1 : 0);
}

/// A barrier is cut as if something followed its meeting: the second of these looks at why the first one's wait ended,
/// and a third would wait for a meeting that there is not.
inline constexpr int kBarrierSlices = 3;
/// Counts and data are shown, then fetched, then all have done so. Data that does not fit into the room is moved piece
/// by piece in the middle, on a core.
inline constexpr int kAllToAllVSlices = 3;

}  // namespace baton::collectives

extern "C" {
// Their arguments: with_share() and the others of collectives/task.hpp.
void baton_collective_kernel(std::int64_t* args);
/// Tensors: x, y, room. Scalars: the context, a Slice, elements of a block of x or y, the contexts of the windows of x
/// and y (null for one that others do not reach), Called::place. Each block of the task does a share of the elements.
void baton_window_collective_kernel(std::int64_t* args);
void baton_message_kernel(std::int64_t* args);
void baton_barrier_kernel(std::int64_t* args);
void baton_all_to_all_v_kernel(std::int64_t* args);
}
