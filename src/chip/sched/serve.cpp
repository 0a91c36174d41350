// The lives of cores and of those beside them: who waits, who takes which task.
#include <algorithm>
#include <utility>

#include "base/fiber.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {

CoreThread& Scheduler::this_core_thread() {
  const std::lock_guard lock(threads_mutex_);
  CoreThread*& thread = thread_of_[std::this_thread::get_id()];
  if (thread == nullptr) {
    threads_.push_back(std::make_unique<CoreThread>());
    thread = threads_.back().get();
    if (profiling()) thread->notes.profile = &profiler_->add_thread();
  }
  return *thread;
}

void Scheduler::serve(Core& core) {
  CoreThread& thread = this_core_thread();
  Seat seat(core);
  seat.fiber = this_fiber();
  {
    const std::lock_guard lock(threads_mutex_);
    const auto cluster = static_cast<std::size_t>(core.position().cluster);
    if (seats_of_cluster_.size() <= cluster) seats_of_cluster_.resize(cluster + 1);
    seats_of_cluster_[cluster].push_back(&seat);
  }
  // Pairs with wait_for_cores() and serve_scout(), which read what all of them wrote.
  serving_.fetch_add(1, std::memory_order_seq_cst);
  ring();
  std::uint32_t turns = 0;
  while (true) {
    thread.idle_in(seat.takes).push_back(&seat);
    rest_fiber();
    Task* task = take(thread, seat, Look::far);
    while (task != nullptr) {
      task = run(thread, seat, *task);
      // Kernels of other cores on this thread may have what they waited for; engines have work now and then.
      if (thread.busy > 0 || ++turns % kTasksPerTurn == 0) yield_fiber();
      if (task == nullptr) task = take(thread, seat, Look::near);
    }
    --thread.looking_in(seat.takes);
    settle_accounts(thread);
    if (stopping()) return;
  }
}

void Scheduler::wake_core(CoreThread& thread, Seat& seat) {
  std::erase(thread.idle_in(seat.takes), &seat);
  ++thread.looking_in(seat.takes);
  wake_fiber(seat.fiber);
}

bool Scheduler::has_work(const CoreThread& thread, Cores cores, Look look) const {
  if (thread.has_own(cores) || thread.has_task(cores)) return true;
  const auto index = static_cast<std::size_t>(cores);
  if (roots_[index].left() != 0) return true;
  if (by_priority_[index].first_count.load(std::memory_order_seq_cst) != 0) return true;
  if (by_priority_[index].last_count.load(std::memory_order_seq_cst) != 0) return true;
  return look != Look::near && std::ranges::any_of(threads_, [&](const auto& other) {
           return look == Look::far ? other->has_task(cores) : other->has_queued(cores);
         });
}

Seat* Scheduler::idle_core_with_work(CoreThread& thread, Look look) const {
  if (alone() && &thread != threads_.front().get()) return nullptr;
  for (const Cores cores : {Cores::vector, Cores::cube}) {
    const auto& idle = thread.idle_in(cores);
    if (idle.empty() || thread.looking_in(cores) > 0) continue;
    if (has_work(thread, cores, look)) return idle.back();
    if (cores != Cores::cube || !has_work(thread, Cores::cluster, look)) continue;
    const auto able = std::ranges::find_if(idle, [this](const Seat* seat) { return cluster_is_free(*seat); });
    if (able != idle.end()) return *able;
  }
  return nullptr;
}

void Scheduler::serve_scout() {
  CoreThread& thread = this_core_thread();
  std::uint32_t looks = 0;
  std::uint64_t calls_seen = 0;
  bool about_to_sleep = false;
  bool found_far = false;
  const auto called = [&] {
    if (stopping() || thread.notice.was_seen() || found_far) return true;
    // Until all cores serve, the list of threads grows.
    if (serving_.load(std::memory_order_seq_cst) != cores_) return false;
    if (left_behind() || must_share(thread) || idle_core_with_work(thread, Look::near) != nullptr) return true;
    ++looks;
    const std::uint64_t calls = calls_.load(std::memory_order_relaxed);
    // Nobody may sleep while others have work for it.
    const bool far = std::exchange(about_to_sleep, false) || std::exchange(calls_seen, calls) != calls ||
                     looks % (kLooksPerInbox * threads_.size()) == 0;
    if (!far && looks % (kLooksPerQueue * threads_.size()) != 0) return false;
    return found_far = idle_core_with_work(thread, far ? Look::far : Look::queues) != nullptr;
  };
  const auto announce = [&] {
    thread.notice.announce();
    about_to_sleep = true;
  };
  while (!stopping()) {
    // Without work there is nothing to report; stop() ends the wait.
    static_cast<void>(wait_until(place_, called, Deadline::never(), announce));
    thread.notice.withdraw();
    found_far = false;
    if (left_behind()) take_over(thread);
    if (must_share(thread)) share(thread);
    if (Seat* seat = idle_core_with_work(thread, Look::far)) wake_core(thread, *seat);
  }
  for (const Cores cores : {Cores::vector, Cores::cube}) {
    while (!thread.idle_in(cores).empty()) wake_core(thread, *thread.idle_in(cores).back());
  }
}

bool Scheduler::must_share(const CoreThread& thread) const noexcept {
  // While this is asked, no kernel of the thread runs: those that have begun wait.
  return thread.busy > 0 && (alone() || thread.has_own());
}

void Scheduler::share(CoreThread& thread) {
  for (const Cores cores : {Cores::vector, Cores::cube, Cores::cluster}) {
    while (Task* task = thread.pop_kept(cores)) make_ready(*task, &thread);
  }
  call_the_others();
}

Task* Scheduler::take_from(CoreThread& thread, Cores cores, Look look) {
  ByPriority& by_priority = by_priority_[static_cast<std::size_t>(cores)];
  if (Task* task = pop_by_priority(by_priority, Urgency::first)) return task;
  if (Task* task = thread.pop_kept(cores)) return task;
  if (Task* task = thread.pop_own(cores)) return task;
  if (Task* task = take_root(thread, cores)) return task;
  // Before those that go last, wherever they are.
  if (by_priority.last_count.load(std::memory_order_relaxed) != 0) look = Look::far;
  if (Task* task = take_from_others(thread, cores, look)) return task;
  return pop_by_priority(by_priority, Urgency::last);
}

Task* Scheduler::take_from_others(CoreThread& thread, Cores cores, Look look) {
  if (thread.lender != nullptr) {
    if (Task* task = thread.lender->pop(cores)) return task;
    thread.lender = nullptr;
  }
  if (look == Look::near) return nullptr;
  for (const auto& other : threads_) {
    if (other.get() == &thread) continue;
    if (Task* task = other->pop(cores)) {
      thread.lender = other.get();
      return task;
    }
  }
  return nullptr;
}

Task* Scheduler::take_root(CoreThread& thread, Cores cores) {
  // Several at a time: so threads neither meet at the list after each short task nor share cache lines. Of long ones
  // nobody takes more than it runs.
  const std::span<Task* const> some =
      roots_[static_cast<std::size_t>(cores)].take(thread.may_keep(cores) ? KeptTasks::kMost : 1);
  return some.empty() ? nullptr : thread.keep_all_but_first(some, cores);
}

Task* Scheduler::take(CoreThread& thread, Seat& seat, Look look) {
  if (stopping()) return nullptr;
  if (seat.assigned != nullptr) return seat.assigned;
  if (seat.takes == Cores::cube && cluster_is_free(seat)) {
    if (Task* task = take_from(thread, Cores::cluster, look)) return task;
  }
  return take_from(thread, seat.takes, look);
}

void Scheduler::serve_deferred() {
  CoreThread& thread = this_core_thread();
  const auto called = [this] { return stopping() || deferred_.due(); };
  while (true) {
    static_cast<void>(wait_until(place_, called, Deadline::at(deferred_.next_look()), [] {}));
    if (stopping()) return;
    const auto beside = thread.busy > 0 ? DeferredTasks::Beside::kernels : DeferredTasks::Beside::nothing;
    deferred_.look(beside, [&](Task& task, std::exception_ptr cause) {
      if (cause) fail_task(task, std::move(cause));
      if (Task* direct = finish_part(thread, task, Cores::none)) make_ready(*direct, &thread);
    });
    settle_accounts(thread);
  }
}

}  // namespace baton::chip
