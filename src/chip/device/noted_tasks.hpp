// What a device that takes whole graphs tells of their tasks, for profiles and traces.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chip/sched/captured_tasks.hpp"
#include "chip/sched/profiler.hpp"

namespace baton::chip {

/// Used by the thread that runs graphs. Times are when this process learnt of something.
class NotedTasks {
 public:
  /// Whom it adds tasks to from now on; null: nobody.
  void tell(Profiler* profiler);

  /// A run begins; whether anybody wants to know of its tasks.
  [[nodiscard]] bool begin(const CapturedTasks& graph);
  /// Task `task`, from 0, has come so far (BATON_TASK_DISPATCHED and its like).
  void note(std::uint32_t task, std::uint32_t progress) noexcept;
  /// It has ended. `failed`: the task that failed, from 0, or BATON_NO_TASK; nothing if none did.
  void end(const CapturedTasks& graph, std::optional<std::uint32_t> failed);

 private:
  struct Noted {
    RunTimes run;
    std::uint64_t completed = 0;
    bool deferred = false;
  };

  [[nodiscard]] static TaskOutcome outcome_of(const Noted& noted, bool has_failed) noexcept;

  Profiler* profiler_ = nullptr;
  ThreadProfile* thread_ = nullptr;
  std::uint64_t began_ = 0;
  std::vector<Noted> tasks_;  // of the run
};

}  // namespace baton::chip
