// Whether the tasks of a captured graph are faster on one thread or on all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace baton::chip {

enum class Crew : std::uint8_t { all, alone };

/// Threads that share short tasks spend more on handing them to each other than they gain, or not: that depends on the
/// graph and on the machine. A graph is run many times, so both are tried, and tried again now and then.
class CrewChoice {
 public:
  /// For the next run, of `tasks` tasks, on a chip with `threads` threads.
  [[nodiscard]] Crew choose(std::uint64_t tasks, std::uint64_t threads) noexcept {
    if (tasks < kFewestTasks || threads < 2 || others_are_needed_) return Crew::all;
    const std::uint64_t run = runs_++ % kRunsPerTrial;
    if (run == 0) best_ns_ = {INT64_MAX, INT64_MAX};
    if (run < kTrialRuns) return Crew::all;
    // Tasks that may be long, because all threads together were busy for so long, are never tried on one.
    if (best_ns_[0] / static_cast<std::int64_t>(tasks) * static_cast<std::int64_t>(threads) >= kLongTaskNs) {
      return Crew::all;
    }
    if (run < 2 * kTrialRuns) return Crew::alone;
    return best_ns_[1] < best_ns_[0] ? Crew::alone : Crew::all;
  }
  /// A run took so long.
  void note(Crew crew, std::int64_t ns) noexcept {
    std::int64_t& best = best_ns_[static_cast<std::size_t>(crew)];
    best = std::min(best, ns);
  }
  /// A kernel waited for another, or was deferred.
  void note_others_are_needed() noexcept { others_are_needed_ = true; }

 private:
  static constexpr std::uint64_t kFewestTasks = 16;
  static constexpr std::int64_t kLongTaskNs = 1000;
  static constexpr std::uint64_t kTrialRuns = 3;  // of each: the first one finds other caches
  static constexpr std::uint64_t kRunsPerTrial = 1024;

  std::uint64_t runs_ = 0;
  std::array<std::int64_t, 2> best_ns_ = {INT64_MAX, INT64_MAX};  // by Crew
  bool others_are_needed_ = false;
};

}  // namespace baton::chip
