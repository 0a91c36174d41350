// The lanes' side of a session of matrix products: two groups of four warps, each with half of the rows of the sums in
// its registers, carry out the director's commands until it ends the session.
#pragma once

#include <pto/target/cuda/matrix_commands.hpp>
#include <pto/target/cuda/matrix_sums.hpp>
#include <pto/target/cuda/wgmma.hpp>

namespace baton::cuda {

__device__ __forceinline__ uint64_t descriptor_of(const Operand& operand, uint32_t block, uint32_t step) {
  const uint32_t chunk = step >> operand.shift;
  const uint32_t in_chunk = step - (chunk << operand.shift);
  // A step along lines is 32 bytes.
  const uint32_t low = operand.low + block * operand.block + chunk * operand.chunk + in_chunk * 2;
  return uint64_t{operand.high} << 32 | low;
}

/// Whether a portion of the tiles of a command is still needed: the warp has read it. Released to the loader, in
/// has_been_read().
__device__ __forceinline__ void tell_read(uint32_t portion, uint32_t number, uint32_t lane) {
  __syncwarp();
  if (lane % kWarp != 0) return;
  asm volatile(
      "st.release.cta.shared::cta.u32 [%0], %1;" ::"r"(shared_address(&control().matrix.read[portion][lane / kWarp])),
      "r"(number + 1)
      : "memory");
}

__device__ __forceinline__ void wait_portion(LoadPhase phase, uint32_t portion) {
  barrier_wait_at((phase & ~1u) + portion * uint32_t{sizeof(uint64_t)}, phase & 1);
}

/// `number` is that of the command.
template <bool is_bfloat16, bool across, int kBlocks, int kCols>
__device__ __forceinline__ void multiply(ThreadSums<kBlocks, kCols>& sums, const MatrixCommand& command, uint32_t group,
                                         uint32_t number, uint32_t lane) {
  if (group * kBlocks * kRowsOfGroup < command.rows) {
    const Operand left = command.left;
    const Operand right = command.right;
    const uint32_t steps = command.steps;
    const uint32_t first_steps = command.first_steps;
    uint32_t onto = command.onto;
    uint32_t step = 0;
#pragma unroll 1
    for (uint32_t portion = 0; portion < kPortions; ++portion) {
      wait_portion(command.left_load, portion);
      wait_portion(command.right_load, portion);
      const uint32_t end = portion == 0 ? first_steps : steps;
#pragma unroll 1
      for (; step < end; ++step) {
        const uint64_t right_at = descriptor_of(right, 0, right.first + step);
        begin_products();
#pragma unroll
        for (int block = 0; block < kBlocks; ++block) {
          multiply<is_bfloat16, across, kCols>(
              sums.of[block], descriptor_of(left, group * kBlocks + block, left.first + step), right_at, onto);
        }
        finish_products();
        onto = 1;
      }
      if (portion == 0 && first_steps != 0) tell_read(0, number, lane);
    }
  }
  tell_read(0, number, lane);
  tell_read(1, number, lane);
}

template <int kBlocks, int kCols>
__device__ __forceinline__ void run_session(uint32_t lane) {
  MatrixUnit& unit = control().matrix;
  // The same for all threads of a warp, which the compiler is told so.
  const uint32_t group = __shfl_sync(~0u, lane / 128, 0);
  ThreadSums<kBlocks, kCols> sums;
#pragma unroll
  for (int i = 0; i < kBlocks * kCols / 2; ++i) sums.of[i / (kCols / 2)][i % (kCols / 2)] = 0;
  for (uint32_t number = unit.first;; ++number) {
    const uint32_t place = CommandRing::place(number);
    // Acquires the command that the director released.
    barrier_wait(&unit.ready[place], CommandRing::parity(number));
    const MatrixCommand& command = unit.commands[place];
    const MatrixWork work = command.work;
    switch (work) {
      case MatrixWork::multiply_half: multiply<false, false>(sums, command, group, number, lane); break;
      case MatrixWork::multiply_half_across: multiply<false, true>(sums, command, group, number, lane); break;
      case MatrixWork::multiply_bfloat16: multiply<true, false>(sums, command, group, number, lane); break;
      case MatrixWork::multiply_bfloat16_across: multiply<true, true>(sums, command, group, number, lane); break;
      case MatrixWork::end: break;
      default: move_sums(sums, lane, group, command);
    }
    __syncwarp();
    // Releases what the warp wrote and that it has read; pairs with wait_command().
    if (lane % kWarp == 0) barrier_arrive(&unit.done[place]);
    if (work == MatrixWork::end) return;
  }
}

/// What lanes do for begin_session().
__device__ __forceinline__ void run_session(Sums sums, uint32_t lane) {
  switch (sums) {
    case Sums::rows128_cols128: return run_session<1, 128>(lane);
    case Sums::rows256_cols128: return run_session<2, 128>(lane);
    default: return run_session<1, 256>(lane);
  }
}

}  // namespace baton::cuda
