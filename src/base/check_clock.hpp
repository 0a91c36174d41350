// The clock of what `baton check` reads: a number that all processes share which write to a file.
//
// Who releases something takes a number before, who acquires it takes one after, and gets a later one. Counters of
// processors do not tell that: they may differ; and a processor may read its own one while a load that stands in front
// of that is still under way.
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
