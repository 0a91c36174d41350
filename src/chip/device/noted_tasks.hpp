// What a device of a library tells of its tasks, for profiles and traces.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <baton/platform.h>
#include <baton/task_profile.hpp>

#include "chip/sched/captured_tasks.hpp"
#include "chip/sched/profiler.hpp"

namespace baton::chip {

/// Used by the thread that runs graphs.
class NotedTasks {
 public:
  /// What the device tells: when this process learnt of something (BATON_FEATURE_TIMES), or the times of blocks.
  enum class Source : std::uint8_t { progress, blocks };

  /// Whom it adds tasks to from now on; null: nobody.
  void tell(Profiler* profiler, Source source);
  [[nodiscard]] bool is_wanted() const noexcept { return profiler_ != nullptr; }
  [[nodiscard]] Source source() const noexcept { return source_; }

  /// A run of a graph begins.
  void begin(const CapturedTasks& graph);
  /// Tasks come one by one: submitted() tells of the newest one of a graph.
  void begin();
  void submitted(CapturedTasks& graph);
  /// Task `task`, from 0, has come so far (BATON_TASK_DISPATCHED and its like).
  void note(std::uint32_t task, std::uint32_t progress) noexcept;
  void note(const BatonBlockTimes& block);
  /// It has ended. `failed`: the task that failed, from 0, or BATON_NO_TASK; nothing if none did.
  void end(const CapturedTasks& graph, std::optional<std::uint32_t> failed);

  /// What each core has done, where blocks are told of.
  [[nodiscard]] std::vector<CoreProfile> core_profiles(std::uint64_t elapsed_ticks) const;

 private:
  struct Noted {
    NamedTask named;
    Cores cores = Cores::none;
    std::uint64_t submitted = 0;
    RunTimes run;
    std::uint64_t completed = 0;
    bool deferred = false;
    bool unfinished = false;  // a block of it began and did not end
  };
  /// Of the host: ticks, and nanoseconds of the steady clock.
  struct Moment {
    std::uint64_t ticks;
    std::int64_t nanoseconds;
  };
  struct CoreTime {
    std::uint64_t kernels = 0;
    std::uint64_t ticks = 0;
  };

  [[nodiscard]] static Moment now() noexcept;
  void add(const Task& task, std::uint64_t graph, std::uint64_t submitted);
  void place_blocks();
  void count(const BatonBlockTimes& block, std::uint64_t ticks);
  void name_lane(int core, const char* name) const;
  [[nodiscard]] static TaskOutcome outcome_of(const Noted& noted, bool has_failed) noexcept;

  Profiler* profiler_ = nullptr;
  Source source_ = Source::progress;
  ThreadProfile* thread_ = nullptr;
  Moment began_{};
  std::vector<Noted> tasks_;             // of the run
  std::vector<BatonBlockTimes> blocks_;  // of the run
  std::set<std::uint32_t> lanes_;        // that have a name in the trace
  std::vector<CoreTime> cores_;
};

}  // namespace baton::chip
