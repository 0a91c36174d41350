// The words of a barrier, in memory that all members map.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace baton::wire {

/// Both words only grow. The k-th barrier is complete when `arrived` reaches k times the number of members;
/// the rank that brings it there publishes k in `released`. Nothing is ever reset, so no arrival can be lost.
struct alignas(64) BarrierWords {
  std::atomic<std::uint64_t> arrived;
  std::byte pad0[56];
  std::atomic<std::uint64_t> released;
  std::byte pad1[56];
};
static_assert(sizeof(BarrierWords) == 128);

}  // namespace baton::wire
