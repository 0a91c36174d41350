// The first tasks of a captured graph: a list that cores work through together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "chip/sched/task.hpp"

namespace baton::chip {

/// The submitter opens and closes it; any core takes.
class Roots {
 public:
  /// `tasks` lives until close().
  void open(const std::vector<Task*>& tasks) noexcept {
    tasks_.store(tasks.data(), std::memory_order_relaxed);
    count_.store(tasks.size(), std::memory_order_relaxed);
    // Releases the list and its tasks to take(). Sequentially consistent because a sleeper tests left() after its
    // announcement.
    next_.store(0, std::memory_order_seq_cst);
  }
  /// All tasks have been taken.
  void close() noexcept { next_.store(kClosed, std::memory_order_relaxed); }

  /// The next ones, at most `most`.
  [[nodiscard]] std::span<Task* const> take(std::uint64_t most) noexcept {
    if (next_.load(std::memory_order_relaxed) >= count_.load(std::memory_order_relaxed)) return {};
    // Pairs with open(): a thread that gets a place of an open list sees that list. One that comes after close() gets a
    // place behind every list.
    const std::uint64_t place = next_.fetch_add(most, std::memory_order_acquire);
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    if (place >= count) return {};
    return {tasks_.load(std::memory_order_relaxed) + place, static_cast<std::size_t>(std::min(most, count - place))};
  }

  /// About how many are left.
  [[nodiscard]] std::uint64_t left() const noexcept {
    const std::uint64_t next = next_.load(std::memory_order_seq_cst);
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    return next < count ? count - next : 0;
  }

 private:
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 62U;

  std::atomic<Task* const*> tasks_{nullptr};
  std::atomic<std::uint64_t> count_{0};
  alignas(64) std::atomic<std::uint64_t> next_{kClosed};
};

}  // namespace baton::chip
