// The clock of what `baton check` reads: one for all processes that write to a file.
//
// Who releases something reads the clock before, who acquires it reads the clock after, and gets a later time, whatever
// the counters of their processors show. Those may differ; and a processor may read its own one while a load that
// stands in front of that is still under way.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace baton {

/// Zero is the initial state. It may lie in memory that several processes share.
class CheckClock {
 public:
  /// At least `now`, and later than all times that were read before.
  [[nodiscard]] std::uint64_t read(std::uint64_t now) noexcept {
    std::uint64_t last = last_.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    // Relaxed: what happens before something else comes before it in the order of one word's changes, too.
    do {
      next = std::max(now, last + 1);
    } while (!last_.compare_exchange_weak(last, next, std::memory_order_relaxed));
    return next;
  }

 private:
  std::atomic<std::uint64_t> last_{0};
};

}  // namespace baton
