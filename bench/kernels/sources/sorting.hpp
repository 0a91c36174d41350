// What the sorting kernels and the loops beside them work on: numbers without an order, and a permutation.
#pragma once

#include <stdint.h>

constexpr int kCount = ROWS * COLS;
constexpr int kSorted = 32;
constexpr int kMerged = 4 * kSorted;

/// Of a small generator; the same everywhere.
inline uint32_t scrambled(uint32_t i) {
  i = (i ^ 61) ^ (i >> 16);
  i *= 9;
  i ^= i >> 4;
  i *= 0x27d4eb2d;
  return i ^ (i >> 15);
}
inline float number(int i) { return static_cast<float>(scrambled(static_cast<uint32_t>(i)) % 1000003); }
inline int32_t place(int i) { return static_cast<int32_t>(scrambled(static_cast<uint32_t>(i)) % kCount); }
