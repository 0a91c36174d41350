// The instruction of the matrix unit: 64 rows of a left matrix, by 16 steps, by 128 or 256 columns of a right one, both
// in shared memory, for the four warps of a group. Its sums lie in their registers: of 8 columns each warp has 16 rows,
// a thread two neighbours in a row and two eight rows below.
#pragma once

#include <stdint.h>

namespace baton::cuda {

/// Accesses of registers before it, and those of the matrix unit after it.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Those that were committed before the last ones.
__device__ inline void finish_older_products() { asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); }
__device__ inline void finish_products() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

#define PTO_SUMS_8(at)                                                                                                \
  "+f"(sums[at]), "+f"(sums[at + 1]), "+f"(sums[at + 2]), "+f"(sums[at + 3]), "+f"(sums[at + 4]), "+f"(sums[at + 5]), \
      "+f"(sums[at + 6]), "+f"(sums[at + 7])
#define PTO_SUMS_64(at)                                                                              \
  PTO_SUMS_8(at), PTO_SUMS_8(at + 8), PTO_SUMS_8(at + 16), PTO_SUMS_8(at + 24), PTO_SUMS_8(at + 32), \
      PTO_SUMS_8(at + 40), PTO_SUMS_8(at + 48), PTO_SUMS_8(at + 56)
#define PTO_REGISTERS_64                                                             \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define PTO_REGISTERS_128                                                                        \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// `across`: right has a step of the common dimension in each line.
#define PTO_MULTIPLY(cols, type, across, registers, left_at, right_at, onto_at, ...)                          \
  asm volatile("{\n.reg .pred onto;\nsetp.ne.b32 onto, " onto_at                                              \
               ", 0;\n"                                                                                       \
               "wgmma.mma_async.sync.aligned.m64n" cols "k16.f32." type "." type " {" registers "}, " left_at \
               ", " right_at ", onto, 1, 1, 0, " across ";\n}\n"                                              \
               : __VA_ARGS__                                                                                  \
               : "l"(left), "l"(right), "r"(onto))
#define PTO_MULTIPLY_128(type, across) \
  PTO_MULTIPLY("128", type, across, PTO_REGISTERS_64, "%64", "%65", "%66", PTO_SUMS_64(0))
#define PTO_MULTIPLY_256(type, across) \
  PTO_MULTIPLY("256", type, across, PTO_REGISTERS_128, "%128", "%129", "%130", PTO_SUMS_64(0), PTO_SUMS_64(64))

/// sums = [sums +] left * right, which are descriptors. Under way until finish_products().
template <bool is_bfloat16, bool across, int kCols>
__device__ __forceinline__ void multiply(float (&sums)[kCols / 2], uint64_t left, uint64_t right, uint32_t onto) {
  static_assert(kCols == 128 || kCols == 256);
  if constexpr (kCols == 128) {
    if constexpr (is_bfloat16 && across) PTO_MULTIPLY_128("bf16", "1");
    if constexpr (is_bfloat16 && !across) PTO_MULTIPLY_128("bf16", "0");
    if constexpr (!is_bfloat16 && across) PTO_MULTIPLY_128("f16", "1");
    if constexpr (!is_bfloat16 && !across) PTO_MULTIPLY_128("f16", "0");
  } else {
    if constexpr (is_bfloat16 && across) PTO_MULTIPLY_256("bf16", "1");
    if constexpr (is_bfloat16 && !across) PTO_MULTIPLY_256("bf16", "0");
    if constexpr (!is_bfloat16 && across) PTO_MULTIPLY_256("f16", "1");
    if constexpr (!is_bfloat16 && !across) PTO_MULTIPLY_256("f16", "0");
  }
}

#undef PTO_MULTIPLY_256
#undef PTO_MULTIPLY_128
#undef PTO_MULTIPLY
#undef PTO_REGISTERS_128
#undef PTO_REGISTERS_64
#undef PTO_SUMS_64
#undef PTO_SUMS_8

}  // namespace baton::cuda
