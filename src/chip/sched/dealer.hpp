// Which thread gets the next task of the submitter.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::chip {

/// Deals out several tasks at a time. A thread that keeps up gets the next ones, too: all that another one could do is
/// to take lines of memory from it. If it does not, the next thread gets some. If the one that joined last still has
/// some of its deal before, there are too few: one more takes part. So short tasks stay on a few threads, and of long
/// ones each gets some.
class Dealer {
 public:
  /// Between two looks at what a thread has left, which takes a line of memory from it.
  static constexpr std::uint64_t kTasksPerDeal = 32;

  /// The thread for the next task, of `threads` that may get some; `waiting(thread)` is how many it has not begun.
  template <class Waiting>
  [[nodiscard]] std::size_t next(std::size_t threads, Waiting&& waiting) {
    if (threads == 1 || ++dealt_ % kTasksPerDeal != 0) return thread_;
    const std::uint64_t left = waiting(thread_);
    if (left > kTasksPerDeal && thread_ + 1 == taking_part_ && taking_part_ < threads) {
      thread_ = taking_part_++;
    } else if (left >= kTasksPerDeal / 2) {
      thread_ = (thread_ + 1) % taking_part_;
    }
    return thread_;
  }
  /// All tasks are complete: fewer threads may be enough for the next ones.
  void start_anew() noexcept {
    thread_ = 0;
    taking_part_ = (taking_part_ + 1) / 2;
  }

 private:
  std::uint64_t dealt_ = 0;
  std::size_t thread_ = 0;
  std::size_t taking_part_ = 1;
};

}  // namespace baton::chip
