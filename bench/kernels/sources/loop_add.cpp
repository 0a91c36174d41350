// What TADD is measured by: the same addition as a loop over vectors, with nothing checked. args: out; how often.
#include <string.h>
#include <typed/kernel.hpp>

typedef float Vector __attribute__((vector_size(16)));
constexpr int kCount = ROWS * COLS;
constexpr int kLanes = 4;

alignas(64) static float a[kCount], b[kCount], sum[kCount];

BATON_KERNEL(loop_add, Out<float> out, int64_t count) {
  for (int i = 0; i < kCount; ++i) {
    a[i] = 1.5f;
    b[i] = 2.25f;
  }
  for (int64_t n = 0; n < count; ++n) {
    __asm__ __volatile__("" ::: "memory");
#pragma GCC unroll 4
    for (int i = 0; i < kCount; i += kLanes) {
      Vector left, right;
      memcpy(&left, a + i, sizeof left);
      memcpy(&right, b + i, sizeof right);
      left += right;
      memcpy(sum + i, &left, sizeof left);
    }
  }
  memcpy(out.data(), sum, sizeof sum);
}
