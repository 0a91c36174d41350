// The product of 16-bit tiles wherever they lie, on the tensor cores of the lanes' warps: each takes 16 rows by 8
// columns of the accumulator at a time.
#pragma once

#include <pto/common/tile_view.hpp>
#include <pto/target/lanes.hpp>

namespace baton::cuda {

/// sums += left * right for 16 rows, 16 steps and 8 columns, as the registers of a warp hold them.
template <bool is_bfloat16>
__device__ __forceinline__ void multiply_fragment(float (&sums)[4], const uint32_t (&left)[4],
                                                  const uint32_t (&right)[2]) {
  if constexpr (is_bfloat16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
  }
}

/// acc += left * right over rows x depth x cols. Steps of the common dimension lie side by side in boxes of 16.
template <bool is_bfloat16>
__device__ void add_product_on_warps(const kernel::TileView& acc, const kernel::TileView& left,
                                     const kernel::TileView& right) {
  const auto rows = static_cast<uint32_t>(left.valid_rows);
  const auto depth = static_cast<uint32_t>(left.valid_cols);
  const auto cols = static_cast<uint32_t>(right.valid_cols);
  struct Matrix {
    unsigned char* data;
    kernel::TileOrder order;
    __device__ __forceinline__ unsigned char* at(uint32_t row, uint32_t col) const {
      return data + order.offset(row, col) * order.element_bytes;
    }
  };
  const Matrix to{acc.data, acc.order};
  const Matrix from{left.data, left.order};
  const Matrix by{right.data, right.order};
  kernel::on_lanes([=](kernel::Lanes lanes) {
    const uint32_t in_warp = lanes.lane % 32;
    const uint32_t line = in_warp / 4;
    const uint32_t pair = in_warp % 4 * 2;
    const uint32_t bands = (cols + 7) / 8;
    const uint32_t pieces = (rows + 15) / 16 * bands;
    // Two neighbours along the common dimension, of which `count` are there.
    const auto two = [](const unsigned char* at, uint32_t first) -> uint32_t {
      if (first >= 2) return *reinterpret_cast<const uint32_t*>(at);
      return first == 1 ? *reinterpret_cast<const uint16_t*>(at) : 0;
    };
    for (uint32_t piece = lanes.lane / 32; piece < pieces; piece += lanes.count / 32) {
      const uint32_t row0 = piece / bands * 16 + line;
      const uint32_t col0 = piece % bands * 8;
      float sums[4];
      float* sum_at[4];
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t row = row0 + i / 2 * 8;
        const uint32_t col = col0 + pair + i % 2;
        sum_at[i] = row < rows && col < cols ? reinterpret_cast<float*>(to.at(row, col)) : nullptr;
        sums[i] = sum_at[i] == nullptr ? 0.0f : *sum_at[i];
      }
      for (uint32_t step = 0; step < depth; step += 16) {
        uint32_t of_left[4];
        uint32_t of_right[2];
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
          const uint32_t row = row0 + i % 2 * 8;
          const uint32_t k = step + pair + i / 2 * 8;
          of_left[i] = row < rows && k < depth ? two(from.at(row, k), depth - k) : 0;
        }
#pragma unroll
        for (uint32_t i = 0; i < 2; ++i) {
          const uint32_t col = col0 + line;
          const uint32_t k = step + pair + i * 8;
          of_right[i] = col < cols && k < depth ? two(by.at(k, col), depth - k) : 0;
        }
        multiply_fragment<is_bfloat16>(sums, of_left, of_right);
      }
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        if (sum_at[i] != nullptr) *sum_at[i] = sums[i];
      }
    }
  });
}

}  // namespace baton::cuda
