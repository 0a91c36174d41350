// The director's side of a session of matrix products: lanes stay in it, with sums in registers, and carry out the
// director's commands while it reads on. pto/target/cuda/matrix_session.hpp is theirs.
#pragma once

#include <pto/target/cuda/posting.hpp>

namespace baton::cuda {

/// Waits for a command, of those that were posted.
__device__ inline void wait_command(uint32_t number) {
  MatrixUnit& unit = control().matrix;
  // Before a command was posted, the one whose place it takes was waited for, so its barrier is in this phase or the
  // next.
  if (unit.posted - number > kCommands) return;
  barrier_wait(&unit.done[CommandRing::place(number)], CommandRing::parity(number));
}

/// Where the command of this number, which is the next one, is to be written.
PTO_INLINE __device__ MatrixCommand& command_at(uint32_t number) {
  MatrixUnit& unit = control().matrix;
  const uint32_t place = CommandRing::place(number);
  // For the one whose place it takes.
  barrier_wait(&unit.done[place], CommandRing::parity_before(number));
  return unit.commands[place];
}
__device__ inline MatrixCommand& next_command() { return command_at(control().matrix.posted); }

/// Releases it to the lanes, which acquire it in run_session().
PTO_INLINE __device__ void post_command_at(uint32_t number) {
  MatrixUnit& unit = control().matrix;
  unit.posted = number + 1;
  barrier_arrive(&unit.ready[CommandRing::place(number)]);
}
/// Returns its number.
__device__ inline uint32_t post_command() {
  const uint32_t number = control().matrix.posted;
  post_command_at(number);
  return number;
}

__device__ inline void begin_session(Sums sums, Begins begins) {
  MatrixUnit& unit = control().matrix;
  LaneQueue& queue = control().lanes;
  if (queue.counts.is_unsettled()) settle_all_work();
  unit.sums.session = sums;
  unit.first = unit.posted;
  unit.begins = begins;
  // Releases all three to the lanes. Nobody waits for the session but who ends it.
  post(nullptr, NoClosure{});
  queue.counts.settled = queue.counts.posted;
}

enum class Registers : uint8_t { to_memory, forgotten };

/// The accumulator's elements as its tile has them.
__device__ inline void post_accumulator(MatrixWork work) {
  const MatrixUnit& unit = control().matrix;
  MatrixCommand& command = next_command();
  command.work = work;
  command.rows = unit.sums.rows;
  command.cols = unit.sums.cols;
  command.memory = reinterpret_cast<uint64_t>(control().core.buffers[kAccumulators].base) + unit.sums.at;
  command.pitch = unit.sums.extent * 16;
  post_command();
}

/// The lanes are free for other work.
PTO_OUTLINED __device__ inline void end_session(Registers registers) {
  MatrixUnit& unit = control().matrix;
  if (registers == Registers::to_memory) post_accumulator(MatrixWork::spill);
  next_command().work = MatrixWork::end;
  post_command();
  // Acquires what the lanes wrote.
  await_lanes();
  unit.sums.session = Sums::none;
}

}  // namespace baton::cuda
