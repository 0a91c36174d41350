// What sorting instructions are measured by: the standard library's sort and merge, and a loop that gathers, with
// nothing checked. args: out; how often.
#include <string.h>

#include <algorithm>
#include <typed/kernel.hpp>

#include "sorting.hpp"

namespace {

struct Pair {
  float value;
  uint32_t index;
};

alignas(64) float numbers[kCount];
alignas(64) int32_t places[kCount];
alignas(64) Pair pairs[kCount], half[kMerged], merged[kCount];
alignas(64) float gathered[kCount];

void sort_blocks() {
  for (int first = 0; first < kCount; first += kSorted) {
    for (int i = first; i < first + kSorted; ++i) pairs[i] = {numbers[i], static_cast<uint32_t>(i)};
    std::sort(pairs + first, pairs + first + kSorted, [](const Pair& a, const Pair& b) {
      return a.value > b.value || (a.value == b.value && a.index < b.index);
    });
  }
}

void merge_blocks() {
  const auto larger = [](const Pair& a, const Pair& b) { return a.value > b.value; };
  for (int first = 0; first < kCount; first += kMerged) {
    const Pair* run = pairs + first;
    std::merge(run, run + kSorted, run + kSorted, run + 2 * kSorted, half, larger);
    std::merge(run + 2 * kSorted, run + 3 * kSorted, run + 3 * kSorted, run + kMerged, half + 2 * kSorted, larger);
    std::merge(half, half + 2 * kSorted, half + 2 * kSorted, half + kMerged, merged + first, larger);
  }
}

template <typename Body>
void repeat(int64_t count, Body body) {
  for (int i = 0; i < kCount; ++i) {
    numbers[i] = number(i);
    places[i] = place(i);
  }
  for (int64_t n = 0; n < count; ++n) {
    __asm__ __volatile__("" ::: "memory");
    body();
  }
  __asm__ __volatile__("" ::: "memory");
}

}  // namespace

BATON_KERNEL(loop_sort, Out<float> out, int64_t count) {
  repeat(count, sort_blocks);
  memcpy(out.data(), pairs, sizeof pairs);
}
BATON_KERNEL(loop_merge, Out<float> out, int64_t count) {
  repeat(1, sort_blocks);
  repeat(count, merge_blocks);
  memcpy(out.data(), merged, sizeof merged);
}
BATON_KERNEL(loop_gather, Out<float> out, int64_t count) {
  repeat(count, [] {
    for (int i = 0; i < kCount; ++i) gathered[i] = numbers[places[i]];
  });
  memcpy(out.data(), gathered, sizeof gathered);
}
