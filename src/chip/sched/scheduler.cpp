#include "chip/sched/scheduler.hpp"

#include <algorithm>
#include <utility>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/log.hpp"
#include "base/processors.hpp"
#include "chip/cores/checked_chip.hpp"

namespace baton::chip {

Scheduler::Scheduler(GlobalMemory& memory, const SchedulerOptions& options, int cores)
    : memory_(memory),
      place_(memory.parking_place()),
      // A fiber shares its thread with the cores, and the thread sleeps in one place.
      submitter_place_(on_fiber() ? place_ : ParkingPlace{&submitter_bell_, FutexScope::process, place_.crowding}),
      submitter_sleeps_at_once_(memory.outnumbers_processors()),
      options_(options),
      cores_(cores),
      processors_(usable_processors()),
      deferred_(memory) {
  if (options_.seed) {
    // Whose choices are drawn beside those of cores and engines.
    std::uint64_t who = std::uint64_t{1} << 32U;
    for (ByPriority& queue : by_priority_) {
      queue.chance.emplace(*options_.seed, static_cast<std::uint64_t>(memory.rank()), who++);
    }
  }
  if (options_.window == 0) fail(Code::invalid_argument, "a window of 0 tasks lets none run");
}

Scheduler::~Scheduler() = default;

// Both are sequentially consistent because they are tested before sleeping; they pair with look_at_wish(), and with the
// stores in complete(), whose tasks' work is visible to a thread that sees them.
std::uint64_t Scheduler::left_window() const noexcept {
  std::uint64_t left = 0;
  for (const auto& thread : threads_) left += thread->left_window.load(std::memory_order_seq_cst);
  if (own_) left += own_->left_window.load(std::memory_order_seq_cst);
  return left;
}

std::uint64_t Scheduler::completed() const noexcept {
  std::uint64_t completed = 0;
  for (const auto& thread : threads_) completed += thread->completed.load(std::memory_order_seq_cst);
  if (own_) completed += own_->completed.load(std::memory_order_seq_cst);
  return completed;
}

void Scheduler::wait_for_room() {
  // Half of the window at a time: so the submitter does not fall asleep after each task.
  if (in_window() >= options_.window) wait_at_submitter({.left_window = submitted_ - options_.window / 2});
  left_before_ = submitted_ - in_window();
}

Task& Scheduler::begin() {
  if (seems_full()) wait_for_room();
  Task& task = blocks_.next();
  task.plan = {};
  task.pending.store(kSubmitting, std::memory_order_relaxed);
  task.measured = std::exchange(measure_next_, false) || task.id % kMeasuredKernels == 0;
  edges_of_task_ = 0;
  return task;
}

Edge& Scheduler::new_edge(Task& task) {
  if (edges_of_task_ < Task::kInlineEdges) return task.inline_edges[static_cast<std::size_t>(edges_of_task_)];
  return *new (blocks_.arena().take(sizeof(Edge))) Edge;
}

void Scheduler::depend(Task& task, TaskId earlier) {
  Task* before = blocks_.find(earlier);
  if (before == nullptr) return;
  // Pairs with the exchange in complete().
  Edge* head = before->waiting.load(std::memory_order_acquire);
  if (head != Task::closed()) {
    Edge& edge = new_edge(task);
    edge.successor = &task;
    do {
      edge.next = head;
      // Releases the edge, and with the last edge's task what the submitter wrote, to the thread that completes
      // `before`.
      if (before->waiting.compare_exchange_weak(head, &edge, std::memory_order_release, std::memory_order_acquire)) {
        ++edges_of_task_;
        return;
      }
    } while (head != Task::closed());
  }
  if (const TaskFailure* failure = before->failure.load(std::memory_order_relaxed)) {
    task.failure.store(failure, std::memory_order_relaxed);
  }
}

void Scheduler::submit(Task& task) {
  task.set_counts();
  count_submission();
  if (profiling()) [[unlikely]]
    note_submission(task);
  if (edges_of_task_ == 0) {
    task.pending.store(0, std::memory_order_relaxed);
    make_ready(task, nullptr);
    return;
  }
  // Pairs with the decrement in complete(): the last one sees what all others did.
  const auto rest = static_cast<std::uint32_t>(kSubmitting - edges_of_task_);
  if (task.pending.fetch_sub(rest, std::memory_order_acq_rel) == rest) make_ready(task, nullptr);
}

void Scheduler::run(CapturedTasks& graph) {
  graph.next_run();
  submitted_ += graph.newest();
  if (profiling()) [[unlikely]] {
    graph.keep_times();
    if (is_checked()) note_edges(graph);
    for (TaskId id = 1; id <= graph.newest(); ++id) note_submission(graph[id]);
  }
  const Crew crew = options_.seed ? Crew::all : graph.crew().choose(graph.newest(), threads_.size());
  const std::int64_t started = now_ns();
  alone_.store(crew == Crew::alone, std::memory_order_relaxed);
  std::size_t roots = graph.roots_by_priority().size();
  for (Task* task : graph.roots_by_priority()) make_ready(*task, nullptr);
  for (std::size_t cores = 0; cores < kCoreKinds; ++cores) {
    const std::vector<Task*>& tasks = graph.roots(static_cast<Cores>(cores));
    if (tasks.empty()) continue;
    roots += tasks.size();
    if (options_.seed) {
      for (Task* task : tasks) make_ready(*task, nullptr);
    } else {
      roots_[cores].open(tasks);
    }
  }
  if (roots > 0) wake(*threads_.front());
  if (roots > 1) wake_all_for_backlog();
  drain();
  for (Roots& cores : roots_) cores.close();
  if (crew == Crew::alone && !alone()) {
    graph.crew().note_others_are_needed();
  } else {
    graph.crew().note(crew, now_ns() - started);
  }
  alone_.store(false, std::memory_order_relaxed);
  if (failures_.any()) graph.forget_failures();
  raise_failures();
}

void Scheduler::call_the_others() {
  // Pairs with the scouts: each thread is woken after it.
  alone_.store(false, std::memory_order_seq_cst);
  call_all();
}

void Scheduler::abandon(Task& task) {
  // Nobody has seen the task.
  task.waiting.store(Task::closed(), std::memory_order_relaxed);
  blocks_.done(task);
}

TaskId Scheduler::oldest_incomplete() noexcept {
  while (oldest_incomplete_ <= blocks_.newest()) {
    const Task* task = blocks_.find(oldest_incomplete_);
    if (task != nullptr && (!task->complete() || task->failure.load(std::memory_order_relaxed) != nullptr)) break;
    ++oldest_incomplete_;
  }
  return oldest_incomplete_;
}

CoreThread& Scheduler::next_thread(Cores cores) {
  // A processor is the submitter's.
  const auto processors = static_cast<std::size_t>(std::max(1, processors_ - 1));
  const auto waiting = [&](std::size_t thread) { return threads_[thread]->inbox(cores).size(); };
  return *threads_[dealer_.next(std::min(threads_.size(), processors), waiting)];
}

void Scheduler::make_ready(Task& task, CoreThread* thread) {
  const bool from_submitter = thread == nullptr;
  const Cores cores = task.plan.serving_cores();
  if (from_submitter) thread = &next_thread(cores);
  if (task.plan.priority != 0 || options_.seed) {
    push_by_priority(task, by_priority_[static_cast<std::size_t>(cores)]);
  } else if (!from_submitter || !thread->inbox(cores).push(task)) {
    thread->queue(cores).push(task);
  }
  wake(*thread);
}

void Scheduler::push_by_priority(Task& task, ByPriority& queue) {
  const std::lock_guard lock(queue.mutex);
  if (queue.chance) task.plan.turn = static_cast<std::uint16_t>(queue.chance->below(1U << 16U));
  queue.tasks.push(&task);
  // Pairs with has_work(). Sequentially consistent because the doorbell is rung after it.
  counter_of(queue, task).fetch_add(1, std::memory_order_seq_cst);
}

Task* Scheduler::pop_by_priority(ByPriority& queue, Urgency urgency) {
  const auto& count = urgency == Urgency::first ? queue.first_count : queue.last_count;
  if (count.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(queue.mutex);
  if (queue.tasks.empty()) return nullptr;
  Task* task = queue.tasks.top();
  // Somebody else may have taken the last one that goes first.
  if (urgency == Urgency::first && task->plan.priority < 0) return nullptr;
  queue.tasks.pop();
  counter_of(queue, *task).fetch_sub(1, std::memory_order_relaxed);
  return task;
}

void Scheduler::wake(CoreThread& thread) const { thread.notice.wake(*place_.doorbell, place_.scope); }

void Scheduler::wake_helper(CoreThread& busy) {
  if (alone()) return;
  const std::int64_t task_ns = busy.task_ns.load(std::memory_order_relaxed);
  int awake = 0;
  CoreThread* asleep = nullptr;
  for (const auto& thread : threads_) {
    if (thread->notice.is_up()) {
      asleep = thread.get();
    } else {
      ++awake;
    }
  }
  if (asleep == nullptr) return;
  const std::uint64_t backlog = busy.backlog();
  if (backlog == 0) return;
  const bool submitting = !submitter_waits_.load(std::memory_order_relaxed);
  const bool room = awake + (submitting ? 1 : 0) < processors_;
  // Nothing is known of a thread's first tasks: they may be long.
  const bool worth_it = task_ns == 0 || static_cast<std::int64_t>(backlog) * task_ns > kWakeCostNs;
  if ((room && worth_it) || task_ns > kLongTaskNs) wake(*asleep);
}

void Scheduler::wake_all_for_backlog() {
  if (ready_count() != 0 && !alone()) call_all();
}

void Scheduler::call_all() {
  // A hint for those that are awake.
  calls_.fetch_add(1, std::memory_order_relaxed);
  for (const auto& thread : threads_) wake(*thread);
}

bool Scheduler::holds(const Wish& wish) noexcept {
  if (wish.task != 0) {
    const Task* task = blocks_.find(wish.task);
    return task == nullptr || task->waiting.load(std::memory_order_seq_cst) == Task::closed();
  }
  return left_window() >= wish.left_window || completed() >= wish.completed || (wish.failure && failures_.any());
}

void Scheduler::wait_at_submitter(const Wish& wish) {
  if (holds(wish)) return;
  wake_all_for_backlog();
  wish_left_window_.store(wish.left_window, std::memory_order_relaxed);
  wish_completed_.store(wish.completed, std::memory_order_relaxed);
  wish_task_.store(wish.task, std::memory_order_relaxed);
  wish_failure_.store(wish.failure, std::memory_order_relaxed);
  while (true) {
    granted_.store(false, std::memory_order_relaxed);
    // Pairs with the loads in complete(), fail_task() and look_at_wish(), and releases the wish to them: a thread that
    // changes what is wished for either sees it, or has done so before the test that follows.
    submitter_waits_.store(true, std::memory_order_seq_cst);
    if (holds(wish)) break;
    // Only this flag is tested meanwhile: the counters belong to the threads that work.
    const auto granted = [this] { return granted_.load(std::memory_order_seq_cst); };
    // Tasks have deadlines of their own; what runs without end is reported by name.
    const Deadline deadline = Deadline::within(options().wait_timeout);
    // docs/investigations/waiting-ladder.md
    const bool is_granted = submitter_sleeps_at_once_ && !on_fiber()
                                ? park_until(submitter_place_, granted, deadline, [] {})
                                : wait_until(submitter_place_, granted, deadline, [] {});
    if (!is_granted) report_stall(wish);
  }
  submitter_waits_.store(false, std::memory_order_relaxed);
}

void Scheduler::grant() {
  // Pairs with the submitter's test. What it wished for is tested again, so one too many does no harm.
  granted_.store(true, std::memory_order_seq_cst);
  submitter_place_.doorbell->ring(submitter_place_.scope);
}

void Scheduler::look_at_wish(CoreThread& thread) {
  // Pairs with wait_at_submitter(): either it sees the counts, or this sees that it waits. Only this thread changes
  // them, so they are stored once more, this time in the order of all sequentially consistent operations; with each
  // task it would cost as much as all the rest of the counting.
  thread.completed.store(thread.completed.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  thread.left_window.store(thread.left_window.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  if (!submitter_waits_.load(std::memory_order_seq_cst)) return;
  if (left_window() >= wish_left_window_.load(std::memory_order_relaxed) ||
      completed() >= wish_completed_.load(std::memory_order_relaxed)) {
    grant();
  }
}

void Scheduler::wait(TaskId id) {
  wait_at_submitter({.task = id});
  if (profiling() && is_checked()) memory_.checked().awaited(id);
  const Task* task = blocks_.find(id);
  if (task != nullptr && task->failure.load(std::memory_order_relaxed) != nullptr) failures_.raise();
}

void Scheduler::wait_all() {
  drain();
  raise_failures();
}

void Scheduler::drain() {
  wait_at_submitter({.completed = submitted_, .failure = true});
  if (failures_.any()) {
    // A rank whose run has failed may never be notified: others fail with it.
    deferred_.give_up();
    wait_at_submitter({.completed = submitted_});
    deferred_.go_on();
  }
  if (profiling() && is_checked()) memory_.checked().awaited_all();
  left_before_ = submitted_;
  quiet_ = true;
  dealer_.start_anew();
}

void Scheduler::raise_failures() {
  if (!failures_.any()) return;
  // The tasks that failed have kept their blocks so that later ones could fail with them.
  blocks_.release_failed();
  struct Clear {
    FailureLog& log;
    ~Clear() { log.clear(); }
  } clear{failures_};
  if (failures_.any_but_given_up()) failures_.raise();
}

void Scheduler::wait_for_cores() {
  const auto all = [this] { return serving_.load(std::memory_order_seq_cst) == cores_; };
  if (!all() && !wait_until(place_, all, Deadline::within(options().wait_timeout), [] {})) {
    fail(Code::internal, "{} of {} cores began to serve", serving_.load(), cores_);
  }
}

std::uint64_t Scheduler::ready_count() const {
  std::uint64_t count = 0;
  for (const Roots& roots : roots_) count += roots.left();
  for (const ByPriority& queue : by_priority_) {
    count += queue.first_count.load(std::memory_order_relaxed) + queue.last_count.load(std::memory_order_relaxed);
  }
  for (const auto& thread : threads_) count += thread->backlog();
  return count;
}

void Scheduler::stop() {
  // Pairs with stopping().
  stop_.store(true, std::memory_order_seq_cst);
  ring();
}

}  // namespace baton::chip
