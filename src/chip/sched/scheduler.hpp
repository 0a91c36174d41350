// Tasks to cores: who runs what, and what becomes ready after it.
//
// One thread submits. Cores, which are fibers of a few threads of the chip, take ready tasks, run them, and find out
// who waited for them. Nobody holds a lock on the way of an ordinary task. A task that is shorter than its way to
// another thread does not go there: the submitter runs it on a core of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <vector>

#include <baton/options.hpp>

#include "base/parking.hpp"
#include "chip/cores/seed.hpp"
#include "chip/sched/captured_tasks.hpp"
#include "chip/sched/core_thread.hpp"
#include "chip/sched/dealer.hpp"
#include "chip/sched/deferred.hpp"
#include "chip/sched/failure.hpp"
#include "chip/sched/kernel_lengths.hpp"
#include "chip/sched/own_core.hpp"
#include "chip/sched/roots.hpp"
#include "chip/sched/task_blocks.hpp"

namespace baton::chip {

struct SchedulerOptions {
  /// Tasks that may be in flight, deferred ones not counted: beyond it, the submitter waits.
  std::uint64_t window = 1024;
  InPlace in_place = InPlace::automatic;
  /// Which ready task goes first follows from it.
  std::optional<std::uint64_t> seed = std::nullopt;
};

class Scheduler {
 public:
  /// For `cores` cores that use `memory`, which outlives it.
  Scheduler(GlobalMemory& memory, const SchedulerOptions& options, int cores);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  // The submitting thread.

  /// The next task, for the caller to fill. Waits while the window is full.
  [[nodiscard]] Task& begin();
  /// Whether begin() would wait now.
  [[nodiscard]] bool full() const noexcept { return seems_full() && in_window() >= options_.window; }
  /// `task`, which is not submitted yet, waits for `earlier`.
  void depend(Task& task, TaskId earlier);
  /// `task` runs once all that it depends on is complete.
  void submit(Task& task);
  /// Whether a later task may still have to wait for it, or to fail with it.
  [[nodiscard]] bool live(TaskId id) noexcept {
    const Task* task = blocks_.find(id);
    // The caller writes next, in depend().
    __builtin_prefetch(task, 1);
    return task != nullptr && (!task->complete() || task->failure.load(std::memory_order_relaxed) != nullptr);
  }
  /// Instead of submit(): nothing runs.
  void abandon(Task& task);

  /// The submitter's core, if the next task is to run there: because a kernel like this is short, and because nothing
  /// is in flight, so that the task depends on nobody, whatever it uses. Otherwise null.
  [[nodiscard]] OwnCore* own_core_for(BatonKernelFunction kernel) {
    if (own_ == nullptr || !own_->is_free()) return nullptr;
    const bool always = options_.in_place == InPlace::always;
    if (!quiet_ && (always || seems_full())) [[unlikely]]
      get_quiet(kernel);
    if (!quiet_) return nullptr;
    if (always || lengths_.is_short(kernel)) return own_.get();
    measure_next_ = true;
    return nullptr;
  }
  /// Runs the call of the submitter's core. Returns the number of its task, which is complete. 0 if there is more to
  /// it: it has failed, waits, or is deferred. Then the caller makes it a task like any other, but for submit().
  [[nodiscard]] TaskId run_in_place();
  /// Instead of submit(): `task` is what run_in_place() began.
  void go_on_with(Task& task);
  /// Waits until the task is complete. Throws the failure of the run if it failed.
  void wait(TaskId id);
  /// All tasks before it are complete.
  [[nodiscard]] TaskId oldest_incomplete() noexcept;
  /// Waits until all tasks are complete. Throws the first failure, once.
  void wait_all();
  /// Runs all tasks of a graph that is closed, and waits for them like wait_all().
  void run(CapturedTasks& graph);
  [[nodiscard]] TaskBlocks& blocks() noexcept { return blocks_; }
  [[nodiscard]] FailureLog& failures() noexcept { return failures_; }

  // Cores.

  /// The core on which the submitter runs tasks itself; it outlives the scheduler. Before the first task.
  void set_own_core(Core& core);
  /// The life of a core, on its fiber: until stop().
  void serve(Core& core);
  /// The life of a fiber beside the cores of each thread: wakes one of them when there is work, until stop().
  void serve_scout();
  /// The life of the fiber that completes deferred tasks: until stop().
  void serve_deferred();
  /// Returns when all cores have begun to serve.
  void wait_for_cores();
  /// Cores finish what they run and leave.
  void stop();
  [[nodiscard]] bool stopping() const noexcept { return stop_.load(std::memory_order_seq_cst); }

  [[nodiscard]] DeferredTasks& deferred() noexcept { return deferred_; }

  /// From now on tasks leave their times there, or nowhere if it is null. While nothing runs.
  void profile(Profiler* profiler);
  [[nodiscard]] bool profiling() const noexcept { return profiler_ != nullptr; }

  /// What each core did so far; while nothing runs.
  [[nodiscard]] std::vector<CoreProfile> core_profiles(std::uint64_t elapsed_ticks) const;

 private:
  /// Tasks between two looks at the clock.
  static constexpr std::uint64_t kSampleTasks = 32;
  /// One kernel in this many is measured. A prime: programs have periods of their own.
  static constexpr std::uint64_t kMeasuredKernels = 31;
  /// Another thread is worth its wake-up if the work that waits takes longer than this.
  static constexpr std::int64_t kWakeCostNs = 5'000;
  /// Tasks of this length fill a processor whatever the submitter does.
  static constexpr std::int64_t kLongTaskNs = 20'000;
  /// What a core will need soon is this many tasks ahead.
  static constexpr std::ptrdiff_t kPrefetched = 2;
  /// A thread with nothing to do looks at the queue and at the inbox of each other one once in this many looks at its
  /// own. A thread that works pays for each look of others: the lines of memory that they look at are those it writes.
  /// Inboxes are the submitter's, who has most to do.
  static constexpr std::uint32_t kLooksPerQueue = 2;
  static constexpr std::uint32_t kLooksPerInbox = 64;
  /// A core lets the other fibers of its thread have a turn after this many tasks.
  static constexpr std::uint32_t kTasksPerTurn = 32;
  /// What a kernel may register.
  static constexpr std::uint32_t kConditionsPerKernel = 64;
  /// So much is in `pending` while a task is being submitted: more than it can depend on.
  static constexpr std::uint32_t kSubmitting = 1U << 30;

  struct LessUrgent {
    bool operator()(const Task* a, const Task* b) const noexcept {
      if (a->plan.priority != b->plan.priority) return a->plan.priority < b->plan.priority;
      if (a->plan.turn != b->plan.turn) return a->plan.turn < b->plan.turn;
      return a->id > b->id;
    }
  };
  /// When a task with a priority goes: before those without one, or after them.
  enum class Urgency : std::uint8_t { first, last };
  /// Tasks with a priority of their own; with a seed, the others too.
  struct ByPriority {
    std::mutex mutex;
    std::optional<Chance> chance;                                      // guarded by mutex
    std::priority_queue<Task*, std::vector<Task*>, LessUrgent> tasks;  // guarded by mutex
    /// How many there are, by urgency.
    std::atomic<std::uint64_t> first_count{0};
    std::atomic<std::uint64_t> last_count{0};
  };
  [[nodiscard]] static std::atomic<std::uint64_t>& counter_of(ByPriority& queue, const Task& task) noexcept {
    return task.plan.priority < 0 ? queue.last_count : queue.first_count;
  }

  // Submitting.
  [[nodiscard]] Edge& new_edge(Task& task);
  /// All tasks that have left the window, or are complete, so far.
  [[nodiscard]] std::uint64_t left_window() const noexcept;
  [[nodiscard]] std::uint64_t completed() const noexcept;
  /// Tasks that are neither complete nor deferred.
  [[nodiscard]] std::uint64_t in_window() const noexcept { return submitted_ - left_window(); }
  /// Whether the window is full, unless some have left it since in_window() looked last.
  [[nodiscard]] bool seems_full() const noexcept { return submitted_ - left_before_ >= options_.window; }
  void wait_for_room();
  /// What the submitter waits for while it sleeps: any of these.
  struct Wish {
    std::uint64_t left_window = UINT64_MAX;
    std::uint64_t completed = UINT64_MAX;
    TaskId task = 0;
    /// Also when a task has failed.
    bool failure = false;
  };
  [[nodiscard]] bool holds(const Wish& wish) noexcept;
  void wait_at_submitter(const Wish& wish);
  /// Waits until all tasks are complete, whatever becomes of them.
  void drain();
  /// Throws the first failure, if there is one, and forgets all.
  void raise_failures();
  void wake_all_for_backlog();
  /// All threads look for what others have: those that sleep, and those that look at their own.
  void call_all();

  // Captured graphs.
  /// Whether only the first thread takes tasks.
  [[nodiscard]] bool alone() const noexcept { return alone_.load(std::memory_order_relaxed); }
  /// The others take tasks, too, for the rest of the run.
  void call_the_others();
  /// Whether kernels of this thread wait, maybe for tasks that only this thread knows or may take.
  [[nodiscard]] bool must_share(const CoreThread& thread) const noexcept;
  void share(CoreThread& thread);

  // In place.
  /// Counts a task that is in flight from now on.
  void count_submission() noexcept {
    ++submitted_;
    quiet_ = false;
  }
  /// Looks whether nothing is in flight and nothing has failed. While tasks are in flight, others wait for them and
  /// cannot be run in place: so if the window is full and the next kernel is short, the submitter lets those under way
  /// get done, as long as they do.
  void get_quiet(BatonKernelFunction kernel);
  /// On the fiber of the submitter's core.
  void run_on_own_core();
  void leave_behind(Task& task);
  [[nodiscard]] bool left_behind() const noexcept { return left_behind_.load(std::memory_order_seq_cst); }
  /// A thread of the chip goes on with the kernel that the submitter has left behind.
  void take_over(CoreThread& thread);

  // Becoming ready.
  /// Which thread gets the next task of the submitter.
  [[nodiscard]] CoreThread& next_thread(Cores cores);
  /// From the submitter (`thread` null) or from a thread of the chip.
  void make_ready(Task& task, CoreThread* thread);
  static void push_by_priority(Task& task, ByPriority& queue);
  [[nodiscard]] static Task* pop_by_priority(ByPriority& queue, Urgency urgency);
  void wake(CoreThread& thread) const;
  void wake_helper(CoreThread& busy);

  // Running.
  [[nodiscard]] CoreThread& this_core_thread();
  /// How far a thread looks for a task.
  enum class Look : std::uint8_t {
    near,    // what it has, and what all share
    queues,  // also what became ready on other threads
    far,     // also what the submitter gave to them
  };
  [[nodiscard]] Task* take(CoreThread& thread, Seat& seat, Look look);
  [[nodiscard]] Task* take_from(CoreThread& thread, Cores cores, Look look);
  [[nodiscard]] Task* take_from_others(CoreThread& thread, Cores cores, Look look);
  [[nodiscard]] Task* take_root(CoreThread& thread, Cores cores);
  [[nodiscard]] bool has_work(const CoreThread& thread, Cores cores, Look look) const;
  /// An idle core that could do something nobody else of its thread will take; null if there is none.
  [[nodiscard]] Seat* idle_core_with_work(CoreThread& thread, Look look) const;
  /// Ends the rest of an idle core.
  static void wake_core(CoreThread& thread, Seat& seat);
  /// Runs one block of `task`. Returns a task that became ready by it and suits this core, if any.
  [[nodiscard]] Task* run(CoreThread& thread, Seat& seat, Task& task);
  [[nodiscard]] Task* run_block(CoreThread& thread, Seat& seat, Task& task, BatonKernelFunction entry, const char* name,
                                std::uint32_t block);
  /// What follows from how the kernel ended.
  [[nodiscard]] Task* after_kernel(CoreThread& thread, Seat& seat, Task& task);
  [[nodiscard]] Task* run_without_kernel(CoreThread& thread, Task& task, Cores cores);
  /// A task that another one's failure keeps from running.
  [[nodiscard]] Task* skip(CoreThread& thread, const Seat& seat, Task& task);
  /// Of a task with extras, whether its predicate lets it run.
  [[nodiscard]] static bool must_run(const Task& task) noexcept;
  /// It is complete without having run.
  [[nodiscard]] Task* pass_over(CoreThread& thread, const Seat& seat, Task& task);
  [[nodiscard]] bool cluster_is_free(const Seat& cube) const;
  void assign_to_cluster(CoreThread& thread, Seat& cube, Task& task, std::uint32_t block);
  /// Whether blocks of `task`, which start together, may be handed out. If not, it is kept until they may.
  [[nodiscard]] bool begin_together(Task& task);
  /// All blocks have a core: the next such task may begin.
  void end_together(CoreThread& thread);
  /// Whether the task was deferred by it, and so leaves the window.
  [[nodiscard]] bool defer(Task& task, const std::vector<Condition>& conditions);
  /// A block has returned, or a condition has become true.
  [[nodiscard]] Task* finish_part(CoreThread& thread, Task& task, Cores cores);
  static void poison(Task& successor, const TaskFailure& failure) noexcept;
  /// One of those that `successor` waits for is complete; if it failed, with `failure`. Whether it was the last one.
  [[nodiscard]] static bool release(Task& successor, const TaskFailure* failure) noexcept;
  /// `task` is complete. Returns a task of `cores` that became ready by it, for the caller to run, if there is one.
  [[nodiscard]] Task* complete(CoreThread& thread, Task& task, Cores cores);
  void fail_task(Task& task, std::exception_ptr cause);
  [[nodiscard]] static std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Deadline::Clock::now().time_since_epoch()).count();
  }
  static void sample(CoreThread& thread);
  static void count_left(CoreThread& thread);
  /// `task` is complete and not touched any more: its block is told later, of several tasks at once.
  void count_done(CoreThread& thread, const Task& task);
  void tell_done(CoreThread& thread);
  /// Before a core of the thread rests, and wherever else tasks were completed.
  void settle_accounts(CoreThread& thread) {
    tell_done(thread);
    look_at_wish(thread);
  }
  /// Ends the submitter's wait if the counters are where it wishes. Every thread looks when it has nothing to do, so
  /// the thread that counted last has looked.
  void look_at_wish(CoreThread& thread);
  void grant();
  /// Logs why the submitter still waits for `wish`: what runs, what is deferred, and who waits for that.
  void report_stall(const Wish& wish);
  [[nodiscard]] std::uint64_t ready_count() const;
  [[nodiscard]] static TaskTimes& times_of(const Task& task) noexcept {
    if (task.graph != nullptr) return task.graph->times(task.id);
    return task.block->times->task[TaskBlock::index_of(task.id)];
  }
  [[nodiscard]] static RunTimes& run_times_of(const Task& task) noexcept {
    if (task.graph != nullptr) return task.graph->run_times(task.id);
    return task.block->times->run[TaskBlock::index_of(task.id)];
  }
  [[nodiscard]] static NamedTask named_task(const Task& task) noexcept;
  /// The task is submitted, and ready if it waits for nobody.
  void note_submission(const Task& task) const;
  void run_timed(Seat& seat, const Task& task) const;
  /// For `baton check`.
  void run_checked(Seat& seat, const Task& task) const;
  void note_passed(const Task& task) const;
  void note_edges(const CapturedTasks& graph) const;
  static void note_dispatch(Seat& seat, const Task& task);
  /// What is known of the run stays with the core until the task is complete, if that comes next, or else with the
  /// task.
  static void note_end(ThreadNotes& notes, const Seat& seat, const Task& task, bool deferred);
  /// The call of the submitter's core.
  void run_own_timed();
  /// It has returned, and its task will be completed by another thread.
  void note_own_kernel();
  void note_in_place(TaskId task) const;
  /// When it was complete.
  std::uint64_t note_completion(ThreadNotes& notes, const Task& task) const;

  void ring() const { place_.doorbell->ring(place_.scope); }

  GlobalMemory& memory_;
  ParkingPlace place_;
  /// Where the submitter sleeps: not where the cores' threads do, who ring for each other.
  Doorbell submitter_bell_;
  ParkingPlace submitter_place_;
  bool submitter_sleeps_at_once_;
  SchedulerOptions options_;
  Profiler* profiler_ = nullptr;  // null unless tasks are profiled
  int cores_;
  int processors_;

  TaskBlocks blocks_;
  FailureLog failures_;
  DeferredTasks deferred_;

  KernelLengths lengths_;

  // The submitter's.
  std::unique_ptr<OwnCore> own_;  // null: it runs nothing itself
  bool quiet_ = true;
  bool measure_next_ = false;  // because it could run in place, were its kernel known to be short
  /// Tasks that were in flight; those that were complete when their kernel had returned in place are not counted.
  std::uint64_t submitted_ = 0;
  std::uint64_t left_before_ = 0;  // tasks that had left the window when in_window() looked last
  std::uint64_t edges_of_task_ = 0;
  TaskId oldest_incomplete_ = 1;
  Dealer dealer_;
  /// Set before the submitter sleeps. Pairs with complete().
  alignas(64) std::atomic<bool> submitter_waits_{false};
  std::atomic<std::uint64_t> wish_left_window_{0};
  std::atomic<std::uint64_t> wish_completed_{0};
  std::atomic<TaskId> wish_task_{0};
  std::atomic<bool> wish_failure_{false};
  /// Set by the thread that finds that the submitter has what it wishes.
  alignas(64) std::atomic<bool> granted_{false};

  /// How often call_all() was called.
  std::atomic<std::uint64_t> calls_{0};
  /// While a captured graph runs: set by the submitter before, cleared by the first thread or by the submitter after.
  std::atomic<bool> alone_{false};

  /// Whether the fiber of the submitter's core waits for a thread of the chip to go on with it.
  alignas(64) std::atomic<bool> left_behind_{false};

  /// Of the captured graph that runs.
  std::array<Roots, kCoreKinds> roots_;
  alignas(64) std::array<ByPriority, kCoreKinds> by_priority_;
  /// Of the tasks whose blocks start together, one at a time gets cores: two that have half of them each would wait for
  /// ever.
  std::mutex together_mutex_;
  Task* starting_together_ = nullptr;   // guarded by together_mutex_
  std::deque<Task*> waiting_together_;  // guarded by together_mutex_

  std::mutex threads_mutex_;
  std::map<std::thread::id, CoreThread*> thread_of_;  // guarded by threads_mutex_
  std::vector<std::unique_ptr<CoreThread>> threads_;  // fixed once all cores serve
  std::vector<std::vector<Seat*>> seats_of_cluster_;  // the same; guarded by threads_mutex_ before
  std::atomic<int> serving_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace baton::chip
