// The clock of events for `baton check`: a number that all processes that write to a file share.
//
// A release takes a number before it, an acquire takes one after it, which is larger. Counters of processors do not
// promise that: they may differ, and a processor may read its own while an earlier load is still under way.
#pragma once

#include <atomic>
#include <cstdint>

namespace baton {

/// Zero is the initial state. It may lie in memory that several processes share.
class CheckClock {
 public:
  /// Later than all that were taken before.
  [[nodiscard]] std::uint64_t next() noexcept {
    // Relaxed: what happens before something else comes before it in the order of one word's changes, too.
    return last_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

 private:
  std::atomic<std::uint64_t> last_{0};
};

}  // namespace baton
