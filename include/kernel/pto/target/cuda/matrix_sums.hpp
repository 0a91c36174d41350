// The sums of a product in the registers of the lanes, and their way to tensors and accumulators.
#pragma once

#include <pto/target/cuda/matrix_commands.hpp>

namespace baton::cuda {

inline constexpr uint32_t kRowsOfGroup = 64;

/// The sums that one thread has: kBlocks times 64 rows by kCols columns are those of its group.
template <int kBlocks, int kCols>
struct ThreadSums {
  float of[kBlocks][kCols / 2];

  /// Of the pair that is its first; the others are multiples of 8 behind it.
  __device__ __forceinline__ static uint32_t first_row(uint32_t lane) {
    return lane / 128 * (kBlocks * kRowsOfGroup) + lane % 128 / kWarp * 16 + lane % kWarp / 4;
  }
  __device__ __forceinline__ static uint32_t first_col(uint32_t lane) { return lane % 4 * 2; }

  /// Calls body(row, col, sum, its right neighbour) for each pair within rows x cols.
  template <typename Body>
  __device__ __forceinline__ void for_pairs(uint32_t lane, uint32_t rows, uint32_t cols, Body body) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int at = 0; at < kCols / 2; at += 2) {
        const uint32_t row = first_row(lane) + block * kRowsOfGroup + at % 4 / 2 * 8;
        const uint32_t col = first_col(lane) + at / 4 * 8;
        if (row < rows && col < cols) body(row, col, of[block][at], of[block][at + 1]);
      }
    }
  }
};

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

/// Stores all sums of a group: an instruction or two for each pair. All of it is read each time from where instructions
/// come from, which takes longer than the memory does; what asks for each pair is forty times as long.
template <MatrixWork work, int kBlocks, int kCols>
__device__ __forceinline__ void store_whole(const ThreadSums<kBlocks, kCols>& sums, uint32_t lane,
                                            const MatrixCommand& command) {
  constexpr uint32_t kBytes = work == MatrixWork::store_float ? 4 : 2;
  const auto pitch = static_cast<uint64_t>(command.pitch) * kBytes;
  uint64_t line = command.memory + sums.first_row(lane) * pitch + sums.first_col(lane) * kBytes;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int at = half * 2; at < kCols / 2; at += 4) {
        const float first = sums.of[block][at];
        const float second = sums.of[block][at + 1];
        const uint64_t to = line + at / 4 * (8 * kBytes);
        if constexpr (work == MatrixWork::store_float) {
          *reinterpret_cast<float2*>(to) = float2{first, second};
        } else {
          *reinterpret_cast<uint32_t*>(to) =
              work == MatrixWork::store_half ? halves_of(first, second) : bfloat16s_of(first, second);
        }
      }
      line += 8 * pitch;
    }
    line += (kRowsOfGroup - 16) * pitch;
  }
}

/// Between registers and a tensor or an accumulator, whatever part of it there is.
template <int kBlocks, int kCols>
__device__ __forceinline__ void move_some(ThreadSums<kBlocks, kCols>& sums, uint32_t lane,
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

/// Between registers and a tensor or an accumulator.
template <int kBlocks, int kCols>
__device__ __forceinline__ void move_sums(ThreadSums<kBlocks, kCols>& sums, uint32_t lane, uint32_t group,
                                          const MatrixCommand& command) {
  const uint32_t bytes = command.work == MatrixWork::store_float ? 4 : 2;
  const bool is_whole = (group + 1) * kBlocks * kRowsOfGroup <= command.rows && command.cols == kCols &&
                        (command.memory | static_cast<uint64_t>(command.pitch) * bytes) % (2 * bytes) == 0;
  if (is_whole && command.work == MatrixWork::store_float) {
    store_whole<MatrixWork::store_float>(sums, lane, command);
  } else if (is_whole && command.work == MatrixWork::store_half) {
    store_whole<MatrixWork::store_half>(sums, lane, command);
  } else if (is_whole && command.work == MatrixWork::store_bfloat16) {
    store_whole<MatrixWork::store_bfloat16>(sums, lane, command);
  } else {
    move_some(sums, lane, command);
  }
}

}  // namespace baton::cuda
