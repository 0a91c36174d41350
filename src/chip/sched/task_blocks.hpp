// Where tasks in flight live: blocks of consecutive numbers, recycled as a whole.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "chip/sched/profiler.hpp"
#include "chip/sched/task.hpp"

namespace baton::chip {

/// Bytes that live as long as the tasks of a block: their arguments, and edges beyond the inline ones.
class Arena {
 public:
  /// `bytes` at a multiple of 64.
  [[nodiscard]] void* take(std::size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > room_) [[unlikely]]
      grow(bytes);
    void* taken = next_;
    next_ += bytes;
    room_ -= bytes;
    return taken;
  }
  /// Everything taken is free again; the memory is kept.
  void reset() noexcept;

 private:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kPieceBytes = 32 * 1024;
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  struct Piece {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t bytes = 0;
  };
  void grow(std::size_t bytes);
  void enter(std::size_t piece) noexcept;

  std::byte* next_ = nullptr;
  std::size_t room_ = 0;
  std::vector<Piece> pieces_;
  std::size_t piece_ = 0;
};

struct TaskBlock {
  static constexpr std::size_t kTasks = 64;

  std::array<Task, kTasks> tasks;
  /// Tasks that are not complete.
  alignas(64) std::atomic<std::uint32_t> open{kTasks};
  TaskBlock* next_done = nullptr;
  /// The submitter's: on a line of its own.
  alignas(64) Arena arena;
  /// Read by all, written when the block is taken.
  alignas(64) TaskId first = 0;
  struct Times {
    std::array<TaskTimes, kTasks> task;
    std::array<RunTimes, kTasks> run;
  };
  std::unique_ptr<Times> times;  // while they are profiled

  [[nodiscard]] static std::size_t index_of(TaskId id) noexcept { return static_cast<std::size_t>((id - 1) % kTasks); }
};

/// For the submitting thread, but for done(). Numbers are given in order; memory follows the tasks that are not
/// complete, in steps of a block.
class TaskBlocks {
 public:
  /// From now on, tasks have times. While none is in flight.
  void keep_times();
  /// A task with the next number, as fresh.
  [[nodiscard]] Task& next();
  /// The next number, for a task that is complete already.
  [[nodiscard]] TaskId add_done() {
    const auto index = static_cast<std::size_t>(newest_ % TaskBlock::kTasks);
    if (index == 0) add_block();
    Task& task = newest_block_->tasks[index];
    task.waiting.store(Task::closed(), std::memory_order_relaxed);
    task.failure.store(nullptr, std::memory_order_relaxed);
    // Counted in the block when the next one begins, all at once.
    ++done_of_newest_block_;
    return ++newest_;
  }
  /// The task of that number; null if it is complete and gone.
  [[nodiscard]] Task* find(TaskId id) noexcept {
    const std::uint64_t block = (id - 1) / TaskBlock::kTasks;
    if (block < first_block_) return nullptr;
    TaskBlock* at = live_[static_cast<std::size_t>(block - first_block_)].get();
    return at == nullptr ? nullptr : &at->tasks[static_cast<std::size_t>((id - 1) % TaskBlock::kTasks)];
  }
  /// All tasks before it are complete and gone.
  [[nodiscard]] TaskId oldest() const noexcept { return first_block_ * TaskBlock::kTasks + 1; }
  [[nodiscard]] TaskId newest() const noexcept { return newest_; }
  /// For arguments and edges of the newest task.
  [[nodiscard]] Arena& arena() noexcept { return newest_block_->arena; }

  /// Any thread: `task` is complete and not touched any more.
  void done(const Task& task) noexcept { done(*task.block, 1); }
  /// The same for `count` tasks of `block`.
  void done(TaskBlock& block, std::uint32_t count) noexcept {
    // Releases what was done with the tasks to the thread that takes the block again, in take_done().
    if (block.open.fetch_sub(count, std::memory_order_acq_rel) == count) give_back(block);
  }

  /// The same for a task that failed: find() finds it until release_failed().
  void keep_failed(Task& task);
  void release_failed();

 private:
  /// Tasks that are submitted in the time that memory takes from one processor to another.
  static constexpr std::size_t kTasksAhead = 2;

  void add_block();
  void take_done();
  void give_back(TaskBlock& block) noexcept;

  std::deque<std::unique_ptr<TaskBlock>> live_;  // by number; null where all tasks are complete
  std::vector<std::unique_ptr<TaskBlock>> free_;
  std::uint64_t first_block_ = 0;
  TaskId newest_ = 0;
  TaskBlock* newest_block_ = nullptr;
  std::uint32_t done_of_newest_block_ = 0;  // and not counted in it
  bool keep_times_ = false;
  alignas(64) std::atomic<TaskBlock*> done_{nullptr};
  std::mutex failed_mutex_;
  std::vector<Task*> failed_;  // guarded by failed_mutex_
};

}  // namespace baton::chip
