// What a kernel touched, for a judge of order without memory of its own: a list of accesses, each as a whole, at which
// many lanes look at the same time. Those that are over, or of which a later one says as much, make room for others.
#pragma once

#include <pto/order/pipe_order.hpp>
#include <pto/order/runs.hpp>

namespace baton::kernel {

/// That are remembered. A kernel that has more of them that are not over forgets the oldest.
inline constexpr uint32_t kTouches = 2048;
inline constexpr uint32_t kNoTouch = ~0u;
/// With BatonAccess: of memory, which no instruction of the scalar pipe touches.
inline constexpr uint32_t kOfMemory = 1u << 15;

/// What is looked at first.
struct alignas(16) Touch {
  Bytes span;
  uint64_t time;    // of the instruction, on the first of its pipes
  uint16_t pipes;   // bits
  uint16_t access;  // BatonAccess and kOfMemory; 0: nothing
  uint32_t pipe;    // the first one
};
static_assert(sizeof(Touch) == 32);

PTO_ANYWHERE inline bool writes(uint32_t access) { return (access & BATON_WRITES) != 0; }

/// What a lane has found.
struct Found {
  uint32_t conflict;  // the number of a touch; kNoTouch: none
  uint32_t free;      // likewise: one that says nothing any more
};

/// One kernel of one core at a time.
struct Touches {
  uint32_t count;
  uint32_t oldest;  // the next one that is forgotten, if all are in use
  Touch touch[kTouches];
  Runs runs[kTouches];
  BatonPlace places[kTouches];

  PTO_ANYWHERE void clear() { count = oldest = 0; }

  /// The part of one of `lanes` lanes: whether `next`, with what was before it, is in conflict with anything. `judge`
  /// knows what is over.
  PTO_ANYWHERE Found look(const Touch& next, const Runs& next_runs, const PipeClock& before, const PipeOrder& judge,
                          uint32_t pipes, uint32_t lane, uint32_t lanes) {
    Found found{kNoTouch, kNoTouch};
    for (uint32_t i = lane; i < count; i += lanes) {
      Touch& other = touch[i];
      if (other.access != 0) {
        const bool is_before = before[other.pipe] >= other.time;
        const bool meets = next.span.begin < other.span.end && other.span.begin < next.span.end;
        Bytes shared{};
        if (!is_before && meets && writes(next.access | other.access) && share_bytes(next_runs, runs[i], shared)) {
          if (found.conflict == kNoTouch) found.conflict = i;
          continue;
        }
        // What is not behind the other one is not behind this one, either, and touches the same.
        const bool covers =
            next_runs.count == 0 && next.span.begin <= other.span.begin && other.span.end <= next.span.end;
        const bool says_as_much = covers && (writes(next.access) || (!writes(other.access) && next.pipe == other.pipe));
        const uint32_t concerned = (other.access & kOfMemory) != 0 ? pipes & ~(1u << kScalarPipe) : pipes;
        if (says_as_much || judge.is_over(other.pipe, other.time, concerned)) other.access = 0;
      }
      if (other.access == 0 && found.free == kNoTouch) found.free = i;
    }
    return found;
  }

  /// After all lanes have looked. `free`: as they found one.
  PTO_ANYWHERE void add(const Touch& next, const Runs& next_runs, const BatonPlace& place, uint32_t free) {
    uint32_t at = free;
    if (at == kNoTouch && count < kTouches) at = count++;
    if (at == kNoTouch) {
      at = oldest;
      oldest = oldest + 1 == kTouches ? 0 : oldest + 1;
    }
    touch[at] = next;
    runs[at] = next_runs;
    places[at] = place;
  }
};

}  // namespace baton::kernel
