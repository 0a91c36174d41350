// What the submitter hands to a thread of the chip: a ring that one thread fills and any thread empties.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "chip/sched/task.hpp"

namespace baton::chip {

/// The submitter's side only writes; it looks at what the others wrote when the ring seems full.
class Inbox {
 public:
  /// False if there is no room.
  [[nodiscard]] bool push(Task& task) noexcept {
    const std::uint64_t place = tail_.load(std::memory_order_relaxed);
    if (place - head_seen_ == kCells) {
      // Pairs with pop(): the cell has been read.
      head_seen_ = head_.load(std::memory_order_acquire);
      if (place - head_seen_ == kCells) return false;
    }
    cells_[place % kCells].store(&task, std::memory_order_relaxed);
    // Releases the task to pop().
    tail_.store(place + 1, std::memory_order_release);
    return true;
  }

  /// Null if there is none.
  [[nodiscard]] Task* pop() noexcept {
    Task* task = nullptr;
    return take({&task, 1}, 1).empty() ? nullptr : task;
  }

  /// As many as fit into `room`, but at most one of `share` that there are, and at least one if there is one.
  [[nodiscard]] std::span<Task*> take(std::span<Task*> room, std::uint64_t share) noexcept {
    std::uint64_t place = head_.load(std::memory_order_relaxed);
    while (true) {
      // Pairs with push().
      const std::uint64_t tail = tail_.load(std::memory_order_acquire);
      if (place >= tail) return {};
      const std::uint64_t count = std::clamp<std::uint64_t>((tail - place) / share, 1, room.size());
      for (std::uint64_t i = 0; i < count; ++i) {
        room[i] = cells_[(place + i) % kCells].load(std::memory_order_relaxed);
      }
      // Releases the cells to push(). If it succeeds, nobody else took these places, so nobody filled the cells again.
      if (head_.compare_exchange_weak(place, place + count, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return room.first(count);
      }
    }
  }

  /// For a waiter that has announced itself.
  [[nodiscard]] bool empty() const noexcept {
    return tail_.load(std::memory_order_seq_cst) <= head_.load(std::memory_order_relaxed);
  }
  /// About how many there are.
  [[nodiscard]] std::uint64_t size() const noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    return tail > head ? tail - head : 0;
  }

 private:
  static constexpr std::uint64_t kCells = 4096;

  std::array<std::atomic<Task*>, kCells> cells_{};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t head_seen_ = 0;  // the submitter's
  alignas(64) std::atomic<std::uint64_t> head_{0};
};

}  // namespace baton::chip
