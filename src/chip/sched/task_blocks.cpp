#include "chip/sched/task_blocks.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace baton::chip {
void Arena::Free::operator()(std::byte* memory) const noexcept {
  ::operator delete (memory, std::align_val_t{kAlignment});
}

void Arena::enter(std::size_t piece) noexcept {
  piece_ = piece;
  next_ = pieces_[piece].memory.get();
  room_ = pieces_[piece].bytes;
}

void Arena::grow(std::size_t bytes) {
  while (piece_ + 1 < pieces_.size()) {
    enter(piece_ + 1);
    if (room_ >= bytes) return;
  }
  const std::size_t size = std::max(bytes, kPieceBytes);
  auto* memory = static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment}));
  pieces_.push_back({std::unique_ptr<std::byte, Free>(memory), size});
  enter(pieces_.size() - 1);
}

void Arena::reset() noexcept {
  if (!pieces_.empty()) enter(0);
}

void TaskBlocks::give_back(TaskBlock& block) noexcept {
  block.next_done = done_.load(std::memory_order_relaxed);
  // Pairs with the exchange in take_done().
  while (!done_.compare_exchange_weak(block.next_done, &block, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void TaskBlocks::keep_failed(Task& task) {
  const std::lock_guard lock(failed_mutex_);
  failed_.push_back(&task);
}

void TaskBlocks::release_failed() {
  const std::lock_guard lock(failed_mutex_);
  for (Task* task : failed_) done(*task);
  failed_.clear();
}

void TaskBlocks::take_done() {
  TaskBlock* block = done_.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    TaskBlock* next = block->next_done;
    const std::uint64_t number = (block->first - 1) / TaskBlock::kTasks;
    free_.push_back(std::move(live_[static_cast<std::size_t>(number - first_block_)]));
    block = next;
  }
  while (!live_.empty() && live_.front() == nullptr) {
    live_.pop_front();
    ++first_block_;
  }
}

void TaskBlocks::keep_times() {
  if (std::exchange(keep_times_, true)) return;
  const auto add_times = [](const std::unique_ptr<TaskBlock>& block) {
    if (block) block->times = std::make_unique<TaskBlock::Times>();
  };
  std::ranges::for_each(live_, add_times);
  std::ranges::for_each(free_, add_times);
  // Those that were given back are not in `free_` yet.
  take_done();
  for (const std::unique_ptr<TaskBlock>& block : free_) {
    if (!block->times) add_times(block);
  }
}

void TaskBlocks::add_block() {
  if (done_of_newest_block_ > 0) {
    done(*newest_block_, std::exchange(done_of_newest_block_, 0U));
  }
  take_done();
  if (free_.empty()) {
    free_.push_back(std::make_unique<TaskBlock>());
    if (keep_times_) free_.back()->times = std::make_unique<TaskBlock::Times>();
  }
  // The one that was used last is still in the cache.
  std::unique_ptr<TaskBlock> block = std::move(free_.back());
  free_.pop_back();
  block->arena.reset();
  block->open.store(TaskBlock::kTasks, std::memory_order_relaxed);
  block->first = newest_ + 1;
  newest_block_ = block.get();
  live_.push_back(std::move(block));
}

Task& TaskBlocks::next() {
  const auto index = static_cast<std::size_t>(newest_ % TaskBlock::kTasks);
  if (index == 0) add_block();
  TaskBlock& block = *newest_block_;
  Task& task = block.tasks[index];
  // The cores that ran these tasks before have their memory.
  if (index + kTasksAhead < TaskBlock::kTasks) block.tasks[index + kTasksAhead].prefetch_to_fill();
  task.id = ++newest_;
  task.block = &block;
  task.waiting.store(nullptr, std::memory_order_relaxed);
  task.failure.store(nullptr, std::memory_order_relaxed);
  task.left_window.store(false, std::memory_order_relaxed);
  return task;
}

}  // namespace baton::chip
