// Tasks whose kernels have returned, but which are not complete: each waits for conditions.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/deadline.hpp"
#include "base/function_ref.hpp"
#include "chip/cores/condition.hpp"
#include "chip/cores/global_memory.hpp"
#include "chip/sched/task.hpp"

namespace baton::chip {

/// Conditions by the spot of the word they wait for. One is looked at when it is added, when its word may have changed,
/// when a rank ends, and when its time is up: never just because time passes. Any thread adds; one fiber looks.
class DeferredTasks {
 public:
  struct Waiting {
    Condition condition;
    Task* task;
    Deadline::Clock::time_point since;
    std::uint64_t began = 0;   // the same in ticks, for a trace; 0: none was written
    std::uint64_t number = 0;  // in the order in which they were added
    bool is_long = false;
  };
  /// What else goes on on the thread that looks.
  enum class Beside : std::uint8_t { nothing, kernels };
  using Met = FunctionRef<void(Task&, std::exception_ptr)>;

  explicit DeferredTasks(GlobalMemory& memory) : memory_(memory) {}

  /// Keeps the condition unless it holds already. False if it does. Throws Error: the condition's own, invalid_argument
  /// if nobody would tell this rank of its change.
  [[nodiscard]] bool add(const Condition& condition, Task& task);

  /// Whether look() has something to do. May be used as a test of wait_until().
  [[nodiscard]] bool due() const noexcept;
  /// When there is something to do because time has passed. For the fiber that looks.
  [[nodiscard]] Deadline::Clock::time_point next_look() const;
  /// Nobody will notify any more: counters that are waited for, now or later, end with GivenUp. Until go_on().
  void give_up();
  void go_on();
  /// Calls `met(task, cause)` for each condition that holds now (cause null) or never will. Shows those that last.
  void look(Beside beside, Met met);

  /// Conditions that are kept.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// For reports: what waits, the longest first.
  [[nodiscard]] std::vector<Waiting> list() const;

 private:
  using Spot = std::uint64_t;
  using Ready = std::vector<std::pair<Task*, std::exception_ptr>>;
  /// Where to find one that waits, or waited.
  struct Age {
    Spot spot;
    std::uint64_t number;
    Deadline::Clock::time_point since;
  };

  void look_at(Spot spot, Ready& ready);
  void look_at_all(Ready& ready, FunctionRef<void(const Waiting&)> judge);
  /// Finds those that last, and ends those that have waited too long. Looks at each twice, however many there are.
  void look_at_times(Deadline::Clock::time_point now, Ready& ready);
  /// Null if it waits no more.
  [[nodiscard]] Waiting* find(const Age& age);
  void expire(const Age& age, Ready& ready);
  [[nodiscard]] Deadline::Clock::time_point next_time() const;
  void show_long_ones();
  void take_out(const Waiting& waiting);
  void ring() const;
  /// For `baton check`: what the condition says is before the end of the task.
  void note_met(const Condition& condition, const Task& task) const;
  /// For traces.
  void note_deferral(const Waiting& waiting) const;
  /// Of a counter.
  void throw_if_hopeless(const Condition& condition) const;

  GlobalMemory& memory_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<Spot, std::vector<Waiting>> waiting_;
  std::uint64_t last_number_ = 0;
  std::deque<Age> young_;               // all that do not last yet, and others that wait no more
  std::map<std::uint64_t, Age> long_;   // by number
  std::map<std::uint64_t, Age> shown_;  // those of them that others can see
  bool given_up_ = false;
  std::atomic<bool> must_look_{false};
  std::atomic<std::uint64_t> count_{0};
  /// Of the steady clock: not later than the first of them is shown, or has waited too long.
  std::atomic<std::int64_t> next_ns_{INT64_MAX};
  bool must_show_ = false;         // others than before; guarded by mutex_
  std::uint32_t deaths_seen_ = 0;  // of the fiber that looks
};

}  // namespace baton::chip
