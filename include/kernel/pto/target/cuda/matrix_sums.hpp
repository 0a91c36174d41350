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

  /// Calls body(row, col, block, at) for each pair within rows x cols.
  template <typename Body>
  __device__ __forceinline__ static void for_pairs(uint32_t lane, uint32_t rows, uint32_t cols, Body body) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int at = 0; at < kCols / 2; at += 2) {
        const uint32_t row = first_row(lane) + block * kRowsOfGroup + at % 4 / 2 * 8;
        const uint32_t col = first_col(lane) + at / 4 * 8;
        if (row < rows && col < cols) body(row, col, block, at);
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

/// Four words of each of four neighbours, exchanged: lane q of them gets word q of all four, in their order.
__device__ __forceinline__ void exchange(uint32_t (&words)[4], uint32_t lane) {
#pragma unroll
  for (uint32_t distance = 1; distance <= 2; distance *= 2) {
    const bool is_upper = (lane & distance) != 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if ((i & distance) != 0) continue;
      uint32_t& low = words[i];
      uint32_t& high = words[i + distance];
      const uint32_t other = __shfl_xor_sync(~0u, is_upper ? low : high, distance);
      (is_upper ? low : high) = other;
    }
  }
}

/// Stores all sums of a group, which lie at multiples of 16 bytes. All of it is read each time from where instructions
/// come from, which takes longer than the memory does; what asks for each pair is forty times as long.
template <int kBlocks, int kCols>
__device__ __forceinline__ void store_whole_floats(const ThreadSums<kBlocks, kCols>& sums, uint32_t lane,
                                                   const MatrixCommand& command) {
  const auto pitch = static_cast<uint64_t>(command.pitch) * sizeof(float);
  uint64_t line = command.memory + sums.first_row(lane) * pitch + sums.first_col(lane) * sizeof(float);
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int at = half * 2; at < kCols / 2; at += 4) {
        *reinterpret_cast<float2*>(line + at / 4 * (8 * sizeof(float))) =
            float2{sums.of[block][at], sums.of[block][at + 1]};
      }
      line += 8 * pitch;
    }
    line += (kRowsOfGroup - 16) * pitch;
  }
}

/// The same, rounded to 16 bits. Four threads have 8 columns; what they have of 32 they exchange, so that each stores
/// 16 bytes at once.
template <MatrixWork work, int kBlocks, int kCols>
__device__ __forceinline__ void store_whole(const ThreadSums<kBlocks, kCols>& sums, uint32_t lane,
                                            const MatrixCommand& command) {
  const auto pitch = static_cast<uint64_t>(command.pitch) * sizeof(uint16_t);
  uint64_t line = command.memory + sums.first_row(lane) * pitch + lane % 4 * sizeof(uint4);
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int col = 0; col < kCols; col += 32) {
        uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int at = col / 2 + i * 4 + half * 2;
          const float first = sums.of[block][at];
          const float second = sums.of[block][at + 1];
          words[i] = work == MatrixWork::store_half ? halves_of(first, second) : bfloat16s_of(first, second);
        }
        exchange(words, lane);
        *reinterpret_cast<uint4*>(line + col * sizeof(uint16_t)) = uint4{words[0], words[1], words[2], words[3]};
      }
      line += 8 * pitch;
    }
    line += (kRowsOfGroup - 16) * pitch;
  }
}

/// Of an accumulator in memory: its elements lie in boxes of 16 x 16, `pitch` from 16 columns to the next.
__device__ __forceinline__ float2* pair_of_accumulator(const MatrixCommand& command, uint32_t row, uint32_t col) {
  return reinterpret_cast<float2*>(command.memory + row * 16 * sizeof(float) +
                                   (col / 16 * command.pitch + col % 16) * sizeof(float));
}

template <int kBlocks, int kCols>
__device__ __forceinline__ void fill_sums(ThreadSums<kBlocks, kCols>& sums, uint32_t lane,
                                          const MatrixCommand& command) {
  sums.for_pairs(lane, command.rows, command.cols, [&](uint32_t row, uint32_t col, int block, int at) {
    const float2 from = *pair_of_accumulator(command, row, col);
    sums.of[block][at] = from.x;
    sums.of[block][at + 1] = from.y;
  });
}

template <int kBlocks, int kCols>
__device__ __forceinline__ void spill_sums(const ThreadSums<kBlocks, kCols>& sums, uint32_t lane,
                                           const MatrixCommand& command) {
  sums.for_pairs(lane, command.rows, command.cols, [&](uint32_t row, uint32_t col, int block, int at) {
    *pair_of_accumulator(command, row, col) = float2{sums.of[block][at], sums.of[block][at + 1]};
  });
}

/// To a tensor, whatever part of them there is.
template <int kBlocks, int kCols>
__device__ __forceinline__ void store_some(const ThreadSums<kBlocks, kCols>& sums, uint32_t lane,
                                           const MatrixCommand& command) {
  const uint64_t memory = command.memory;
  const uint32_t cols = command.cols;
  const MatrixWork work = command.work;
  const uint32_t bytes = work == MatrixWork::store_float ? 4 : 2;
  const int64_t row_pitch = command.pitch * bytes;
  const bool in_pairs = (memory | static_cast<uint64_t>(row_pitch)) % (2 * bytes) == 0;
  sums.for_pairs(lane, command.rows, cols, [&](uint32_t row, uint32_t col, int block, int index) {
    const float first = sums.of[block][index];
    const float second = sums.of[block][index + 1];
    const uint64_t at = memory + row * row_pitch + uint64_t{col} * bytes;
    const bool both = in_pairs && col + 1 < cols;
    if (bytes == 4) {
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

/// To a tensor or an accumulator.
template <int kBlocks, int kCols>
__device__ __forceinline__ void store_sums(const ThreadSums<kBlocks, kCols>& sums, uint32_t lane, uint32_t group,
                                           const MatrixCommand& command) {
  const uint32_t bytes = command.work == MatrixWork::store_float ? 4 : 2;
  const bool is_whole = (group + 1) * kBlocks * kRowsOfGroup <= command.rows && command.cols == kCols &&
                        (command.memory | static_cast<uint64_t>(command.pitch) * bytes) % sizeof(uint4) == 0;
  if (command.work == MatrixWork::spill) {
    spill_sums(sums, lane, command);
  } else if (is_whole && command.work == MatrixWork::store_float) {
    store_whole_floats(sums, lane, command);
  } else if (is_whole && command.work == MatrixWork::store_half) {
    store_whole<MatrixWork::store_half>(sums, lane, command);
  } else if (is_whole && command.work == MatrixWork::store_bfloat16) {
    store_whole<MatrixWork::store_bfloat16>(sums, lane, command);
  } else {
    store_some(sums, lane, command);
  }
}

}  // namespace baton::cuda
