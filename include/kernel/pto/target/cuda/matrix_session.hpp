// The lanes' side of a session of matrix products: two groups of four warps, each with half of the rows of the sums in
// its registers, carry out the director's commands until it ends the session.
#pragma once

#include <pto/target/cuda/matrix_commands.hpp>
#include <pto/target/cuda/wgmma.hpp>

namespace baton::cuda {

inline constexpr uint32_t kRowsOfGroup = 64;

/// The sums that one thread has: kBlocks times 64 rows by kCols columns are those of its group.
template <int kBlocks, int kCols>
struct ThreadSums {
  float of[kBlocks][kCols / 2];

  /// Calls body(row, col, sum, its right neighbour) for each pair within rows x cols.
  template <typename Body>
  __device__ __forceinline__ void for_pairs(uint32_t lane, uint32_t rows, uint32_t cols, Body body) {
    const uint32_t first_row = lane / 128 * (kBlocks * kRowsOfGroup) + lane % 128 / kWarp * 16 + lane % kWarp / 4;
    const uint32_t first_col = lane % 4 * 2;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int at = 0; at < kCols / 2; at += 2) {
        const uint32_t row = first_row + block * kRowsOfGroup + at % 4 / 2 * 8;
        const uint32_t col = first_col + at / 4 * 8;
        if (row < rows && col < cols) body(row, col, of[block][at], of[block][at + 1]);
      }
    }
  }
};

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

/// Two neighbours of a tensor, rounded to nearest, as their bits.
__device__ __forceinline__ uint32_t halves_of(float first, float second) {
  uint32_t bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}
__device__ __forceinline__ uint32_t bfloat16s_of(float first, float second) {
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}

/// Between registers and a tensor or an accumulator.
template <int kBlocks, int kCols>
__device__ __forceinline__ void move_sums(ThreadSums<kBlocks, kCols>& sums, uint32_t lane,
                                          const MatrixCommand& command) {
  const uint64_t memory = command.memory;
  const int64_t pitch = command.pitch;
  const uint32_t cols = command.cols;
  const MatrixWork work = command.work;
  const uint32_t bytes = work == MatrixWork::store_half || work == MatrixWork::store_bfloat16 ? 2 : 4;
  // Elements of an accumulator lie in boxes of 16 x 16, `pitch` from 16 columns to the next.
  const bool in_boxes = work == MatrixWork::fill || work == MatrixWork::spill;
  const int64_t row_pitch = (in_boxes ? 16 : pitch) * bytes;
  const bool in_pairs = in_boxes || (memory | static_cast<uint64_t>(row_pitch)) % (2 * bytes) == 0;
  sums.for_pairs(lane, command.rows, cols, [=](uint32_t row, uint32_t col, float& first, float& second) {
    const uint64_t at =
        memory + row * row_pitch + (in_boxes ? (col / 16 * pitch + col % 16) * bytes : uint64_t{col} * bytes);
    const bool both = in_pairs && col + 1 < cols;
    if (work == MatrixWork::fill) {
      const float2 from = *reinterpret_cast<const float2*>(at);
      first = from.x;
      second = from.y;
    } else if (bytes == 4) {
      if (both) {
        *reinterpret_cast<float2*>(at) = float2{first, second};
      } else {
        reinterpret_cast<float*>(at)[0] = first;
        if (col + 1 < cols) reinterpret_cast<float*>(at)[1] = second;
      }
    } else {
      const uint32_t bits = work == MatrixWork::store_half ? halves_of(first, second) : bfloat16s_of(first, second);
      if (both) {
        *reinterpret_cast<uint32_t*>(at) = bits;
      } else {
        reinterpret_cast<uint16_t*>(at)[0] = static_cast<uint16_t>(bits);
        if (col + 1 < cols) reinterpret_cast<uint16_t*>(at)[1] = static_cast<uint16_t>(bits >> 16);
      }
    }
  });
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
    const uint32_t place = number % kCommands;
    // Acquires the command that the director released.
    barrier_wait(&unit.ready[place], number / kCommands % 2);
    const MatrixCommand& command = unit.commands[place];
    const MatrixWork work = command.work;
    switch (work) {
      case MatrixWork::multiply_half: multiply<false, false>(sums, command, group, number, lane); break;
      case MatrixWork::multiply_half_across: multiply<false, true>(sums, command, group, number, lane); break;
      case MatrixWork::multiply_bfloat16: multiply<true, false>(sums, command, group, number, lane); break;
      case MatrixWork::multiply_bfloat16_across: multiply<true, true>(sums, command, group, number, lane); break;
      case MatrixWork::end: break;
      default: move_sums(sums, lane, command);
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
