// Tasks that can run: a queue that any thread fills and any thread empties.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "chip/sched/task.hpp"

namespace baton::chip {

/// First in, first out, but for what does not fit into the ring: that comes after. Never full.
///
/// Each cell of the ring has a turn: 2 * round while it is empty, 2 * round + 1 while it holds a task. A pusher takes a
/// place by advancing `tail_`, fills the cell and ends its turn; a popper does the same at `head_`.
class ReadyQueue {
 public:
  ReadyQueue() : cells_(std::make_unique<Cell[]>(kCells)) {
    for (std::size_t i = 0; i < kCells; ++i) cells_[i].turn.store(0, std::memory_order_relaxed);
  }

  void push(Task& task) {
    std::uint64_t place = tail_.load(std::memory_order_relaxed);
    while (true) {
      Cell& cell = cells_[place % kCells];
      const std::uint64_t round = place / kCells;
      // Pairs with the store in pop(): the cell is empty again.
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == 2 * round) {
        // Sequentially consistent because a sleeper announces itself and then looks at it in empty().
        if (tail_.compare_exchange_weak(place, place + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) {
          cell.task = &task;
          cell.turn.store(2 * round + 1, std::memory_order_release);
          return;
        }
      } else if (turn < 2 * round) {
        return push_beyond(task);
      } else {
        place = tail_.load(std::memory_order_relaxed);
      }
    }
  }

  /// Null if there is none, or if the first is not yet quite there.
  [[nodiscard]] Task* pop() {
    std::uint64_t place = head_.load(std::memory_order_relaxed);
    while (true) {
      Cell& cell = cells_[place % kCells];
      const std::uint64_t round = place / kCells;
      // Pairs with the store in push(): the task is in the cell.
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == 2 * round + 1) {
        if (head_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) {
          Task* task = cell.task;
          cell.turn.store(2 * (round + 1), std::memory_order_release);
          return task;
        }
      } else if (turn < 2 * round + 1) {
        return beyond_count_.load(std::memory_order_relaxed) == 0 ? nullptr : pop_beyond();
      } else {
        place = head_.load(std::memory_order_relaxed);
      }
    }
  }

  /// For a waiter that has announced itself: after a push that it did not see, the pusher sees the announcement.
  [[nodiscard]] bool empty() const noexcept {
    return tail_.load(std::memory_order_seq_cst) == head_.load(std::memory_order_relaxed) &&
           beyond_count_.load(std::memory_order_seq_cst) == 0;
  }

  /// About how many there are.
  [[nodiscard]] std::uint64_t size() const noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    return (tail > head ? tail - head : 0) + beyond_count_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kCells = 1024;
  struct Cell {
    std::atomic<std::uint64_t> turn;
    Task* task;
  };

  void push_beyond(Task& task);
  [[nodiscard]] Task* pop_beyond();

  std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> beyond_count_{0};
  std::mutex mutex_;
  std::deque<Task*> beyond_;  // guarded by mutex_
};

}  // namespace baton::chip
