// The lives of cores and of those beside them: who waits, who takes which task.
#include <algorithm>
#include <utility>

#include "base/fiber.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {

Worker& Scheduler::worker_of_this_thread() {
  const std::lock_guard lock(workers_mutex_);
  Worker*& worker = worker_of_[std::this_thread::get_id()];
  if (worker == nullptr) {
    workers_.push_back(std::make_unique<Worker>());
    worker = workers_.back().get();
    if (profiling()) worker->notes.profile = &options_.profiler->add_thread();
  }
  return *worker;
}

void Scheduler::serve(Core& core) {
  Worker& worker = worker_of_this_thread();
  Seat seat(core);
  seat.fiber = this_fiber();
  {
    const std::lock_guard lock(workers_mutex_);
    const auto cluster = static_cast<std::size_t>(core.place().cluster);
    if (seats_of_cluster_.size() <= cluster) seats_of_cluster_.resize(cluster + 1);
    seats_of_cluster_[cluster].push_back(&seat);
  }
  // Pairs with wait_for_cores() and serve_scout(), which read what all of them wrote.
  serving_.fetch_add(1, std::memory_order_seq_cst);
  ring();
  std::uint32_t turns = 0;
  while (true) {
    worker.idle_in(seat.lane).push_back(&seat);
    rest_fiber();
    Task* task = take(worker, seat);
    while (task != nullptr) {
      task = run(worker, seat, *task);
      // Kernels of other cores on this thread may have what they waited for; engines have work now and then.
      if (worker.busy > 0 || ++turns % kTasksPerTurn == 0) yield_fiber();
      if (task == nullptr) task = take(worker, seat);
    }
    --worker.looking_in(seat.lane);
    look_at_wish(worker);
    if (stopping()) return;
  }
}

void Scheduler::wake_core(Worker& worker, Seat& seat) {
  std::erase(worker.idle_in(seat.lane), &seat);
  ++worker.looking_in(seat.lane);
  wake_fiber(seat.fiber);
}

bool Scheduler::has_work(Lane lane) const {
  const auto index = static_cast<std::size_t>(lane);
  if (roots_[index].left() != 0) return true;
  if (urgent_[index].count.load(std::memory_order_seq_cst) != 0) return true;
  if (shuffled_[index].count.load(std::memory_order_seq_cst) != 0) return true;
  if (patient_[index].count.load(std::memory_order_seq_cst) != 0) return true;
  return std::ranges::any_of(workers_, [&](const auto& worker) { return worker->has_task(lane); });
}

Seat* Scheduler::idle_core_with_work(Worker& worker) const {
  if (alone() && &worker != workers_.front().get()) return nullptr;
  for (const Lane lane : {Lane::vector, Lane::cube}) {
    const auto& idle = worker.idle_in(lane);
    if (idle.empty() || worker.looking_in(lane) > 0) continue;
    if (worker.has_own(lane) || has_work(lane)) return idle.back();
    if (lane != Lane::cube || !has_work(Lane::cluster)) continue;
    const auto able = std::ranges::find_if(idle, [this](const Seat* seat) { return cluster_is_free(*seat); });
    if (able != idle.end()) return *able;
  }
  return nullptr;
}

void Scheduler::serve_scout() {
  Worker& worker = worker_of_this_thread();
  const auto called = [&] {
    if (stopping() || worker.notice.was_seen()) return true;
    // Until all cores serve, the list of workers grows.
    if (serving_.load(std::memory_order_seq_cst) != cores_) return false;
    return left_behind() || must_share(worker) || idle_core_with_work(worker) != nullptr;
  };
  while (!stopping()) {
    // Without work there is nothing to report; stop() ends the wait.
    static_cast<void>(wait_until(place_, called, Deadline::never(), [&] { worker.notice.announce(); }));
    worker.notice.withdraw();
    if (left_behind()) take_over(worker);
    if (must_share(worker)) share(worker);
    if (Seat* seat = idle_core_with_work(worker)) wake_core(worker, *seat);
  }
  for (const Lane lane : {Lane::vector, Lane::cube}) {
    while (!worker.idle_in(lane).empty()) wake_core(worker, *worker.idle_in(lane).back());
  }
}

bool Scheduler::must_share(const Worker& worker) const noexcept {
  // While this is asked, no kernel of the thread runs: those that have begun wait.
  return worker.busy > 0 && (alone() || worker.has_own());
}

void Scheduler::share(Worker& worker) {
  for (const Lane lane : {Lane::vector, Lane::cube, Lane::cluster}) {
    while (Task* task = worker.pop_kept(lane)) make_ready(*task, &worker);
    std::span<Task* const>& mine = worker.roots[static_cast<std::size_t>(lane)];
    for (Task* task : std::exchange(mine, {})) make_ready(*task, &worker);
  }
  call_the_others();
}

Task* Scheduler::take_from(Worker& worker, Lane lane) {
  if (Task* task = pop_by_priority(urgent_[static_cast<std::size_t>(lane)])) return task;
  if (Task* task = pop_by_priority(shuffled_[static_cast<std::size_t>(lane)])) return task;
  if (Task* task = worker.pop_kept(lane)) return task;
  if (Task* task = worker.pop_own(lane)) return task;
  if (Task* task = take_root(worker, lane)) return task;
  for (const auto& other : workers_) {
    if (other.get() == &worker) continue;
    if (Task* task = other->pop(lane)) return task;
  }
  return pop_by_priority(patient_[static_cast<std::size_t>(lane)]);
}

Task* Scheduler::take_root(Worker& worker, Lane lane) {
  std::span<Task* const>& mine = worker.roots[static_cast<std::size_t>(lane)];
  if (mine.empty()) {
    // Several at a time: so threads neither meet at the list after each short task nor share cache lines. Of long ones
    // nobody takes more than it runs.
    const std::uint64_t most = worker.may_keep() ? kRootsAtATime : 1;
    mine = roots_[static_cast<std::size_t>(lane)].take(most);
    if (mine.empty()) return nullptr;
  }
  Task* task = mine.front();
  mine = mine.subspan(1);
  return task;
}

Task* Scheduler::take(Worker& worker, Seat& seat) {
  if (stopping()) return nullptr;
  if (seat.assigned != nullptr) return seat.assigned;
  if (seat.lane == Lane::cube && cluster_is_free(seat)) {
    if (Task* task = take_from(worker, Lane::cluster)) return task;
  }
  return take_from(worker, seat.lane);
}

void Scheduler::serve_deferred() {
  Worker& worker = worker_of_this_thread();
  const auto called = [this] { return stopping() || deferred_.due(); };
  while (true) {
    static_cast<void>(wait_until(place_, called, Deadline::at(deferred_.next_deadline()), [] {}));
    if (stopping()) return;
    deferred_.look([&](Task& task, std::exception_ptr cause) {
      if (cause) fail_task(task, std::move(cause));
      if (Task* direct = finish_part(worker, task, Lane::none)) make_ready(*direct, &worker);
    });
    look_at_wish(worker);
  }
}

}  // namespace baton::chip
