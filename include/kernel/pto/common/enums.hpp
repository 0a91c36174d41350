// The numbers and choices that types and instructions are made of.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace pto {

/// A size that is set at run time.
inline constexpr int DYNAMIC = -1;

inline constexpr int C0_SIZE_BYTE = 32;
inline constexpr int BLOCK_BYTE_SIZE = 32;
inline constexpr int REPEAT_BYTE = 256;
inline constexpr int BLOCK_LEN = 16;
inline constexpr int FRACTAL_NZ_ROW = 16;
inline constexpr int CUBE_BLOCK_SIZE = 512;

struct GlobalTensorDim {
  static constexpr int DIM_0 = 0;
  static constexpr int DIM_1 = 1;
  static constexpr int DIM_2 = 2;
  static constexpr int DIM_3 = 3;
  static constexpr int DIM_4 = 4;
  static constexpr int TOTAL_DIM = 5;
};

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class Layout { ND, DN, NZ, MX_A_ZZ, MX_B_NN };
enum class RoundMode { CAST_NONE, CAST_RINT, CAST_ROUND, CAST_FLOOR, CAST_CEIL, CAST_TRUNC, CAST_ODD };
enum class SaturationMode { ON, OFF };
enum class AtomicType { AtomicNone, AtomicAdd };
enum class PadValue : uint64_t { Null, Zero, Max, Min };
enum class CompactMode { Null, Normal };

/// What an instruction returns. Holds nothing: order is made with flags and barriers.
struct RecordEvent {};

}  // namespace pto
