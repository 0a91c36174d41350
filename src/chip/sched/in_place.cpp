// The submitter runs short tasks itself.
#include <utility>

#include "base/fiber.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {

void Scheduler::set_own_core(Core& core) {
  // With a seed, turns decide what runs when; and a fiber has no thread of its own.
  if (options_.in_place == InPlace::never || options_.seed || on_fiber()) return;
  own_ = std::make_unique<OwnCore>(core, [this] { run_on_own_core(); });
  if (profiling()) own_->notes.profile = &profiler_->add_thread();
}

void Scheduler::get_quiet(BatonKernelFunction kernel) {
  if (options_.in_place == InPlace::automatic) {
    wait_for_room();
    if (!lengths_.is_short(kernel)) return;
    // If nothing is completed for a moment, something long is under way.
    for (std::uint64_t before = 0, now = completed(); now != before && now != submitted_;) {
      before = now;
      look_for_a_moment([&] { return (now = completed()) == submitted_; });
    }
  }
  quiet_ = completed() == submitted_ && !failures_.any();
}

TaskId Scheduler::run_in_place() {
  OwnCore& own = *own_;
  KernelCall& call = own.seat.call;
  call.condition_capacity = kConditionsPerKernel;
  if (!own.fiber) own.fiber.emplace(own.run);
  const bool measured = own.kernels++ % kMeasuredKernels == 0;
  const std::int64_t started = measured ? now_ns() : 0;
  own.waits = !own.fiber->run();
  if (own.waits || call.error || !call.conditions.empty()) [[unlikely]]
    return 0;
  if (measured) lengths_.note(call.entry, now_ns() - started);
  const TaskId id = blocks_.add_done();
  if (profiling()) [[unlikely]]
    note_in_place(id);
  return id;
}

void Scheduler::go_on_with(Task& task) {
  OwnCore& own = *own_;
  KernelCall& call = own.seat.call;
  task.set_counts();
  count_submission();
  if (profiling()) note_submission(task);
  if (own.waits) return leave_behind(task);
  if (call.error) fail_task(task, std::exchange(call.error, nullptr));
  if (profiling()) note_end(own.notes, own.seat, task, !call.conditions.empty());
  if (!call.conditions.empty()) {
    lengths_.note_wait(call.entry);
    // Pairs with left_window().
    if (defer(task, call.conditions)) own.left_window.fetch_add(1, std::memory_order_seq_cst);
    call.conditions.clear();
  }
  const bool deferred = task.parts_to_finish.load(std::memory_order_relaxed) != 1;
  if (deferred && profiling()) note_own_kernel();
  // The kernel is one part.
  if (!count_down(task.parts_to_finish)) return;
  if (profiling()) note_completion(own.notes, task);
  const bool left_before = task.left_window.load(std::memory_order_relaxed);
  // The submitter alone makes tasks wait for others, so nobody waits for this one. Pairs with complete() of Task.
  task.waiting.store(Task::closed(), std::memory_order_release);
  if (task.failure.load(std::memory_order_relaxed) == nullptr) {
    blocks_.done(task);
  } else {
    blocks_.keep_failed(task);
  }
  // Both pair with the sums of the submitter, and with look_at_wish().
  if (!left_before) own.left_window.fetch_add(1, std::memory_order_seq_cst);
  own.completed.fetch_add(1, std::memory_order_seq_cst);
}

void Scheduler::run_on_own_core() {
  OwnCore& own = *own_;
  Seat& seat = own.seat;
  if (profiling()) [[unlikely]] {
    run_own_timed();
  } else {
    seat.core.run(seat.call);
  }
  if (own.left_behind == nullptr) return;
  // The kernel has waited. This is a thread of the chip now.
  CoreThread& thread = this_core_thread();
  --thread.busy;
  if (profiling()) note_own_kernel();
  Task& task = *std::exchange(own.left_behind, nullptr);
  if (Task* direct = after_kernel(thread, seat, task)) make_ready(*direct, &thread);
  settle_accounts(thread);
  // Pairs with is_free(): the seat and the call are the submitter's again.
  own.away.store(false, std::memory_order_release);
}

void Scheduler::leave_behind(Task& task) {
  lengths_.note_wait(task.plan.entry);
  own_->left_behind = &task;
  own_->seat.running.store(&task, std::memory_order_relaxed);
  own_->away.store(true, std::memory_order_relaxed);
  // Releases the fiber and the task to take_over(). Sequentially consistent because a sleeper tests it after its
  // announcement.
  left_behind_.store(true, std::memory_order_seq_cst);
  wake(*threads_.front());
}

void Scheduler::take_over(CoreThread& thread) {
  // Pairs with leave_behind(); of several threads one gets it.
  if (!left_behind_.exchange(false, std::memory_order_acquire)) return;
  ++thread.busy;
  GuestFiber fiber = std::move(*own_->fiber);
  own_->fiber.reset();
  adopt_fiber(std::move(fiber));
}

}  // namespace baton::chip
