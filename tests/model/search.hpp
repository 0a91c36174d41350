// Depth-first search over all choices of an execution. Executions are replayed from their beginning: a point of the
// search is the sequence of choices that leads to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine.hpp"
#include "explore.hpp"

namespace baton::model {

/// What follows the first failure: nothing, or the search for a shorter one.
enum class AfterFailure : std::uint8_t { stop, shorten };

class Search {
 public:
  Search(const MakeScenario& make_scenario, const Options& options, AfterFailure after);

  /// Counts into `report`.
  void run(Report& report);

  [[nodiscard]] bool failed() const noexcept { return failed_; }

  /// Runs the failure once more and describes its steps.
  [[nodiscard]] Failure describe();

 private:
  /// A set of threads, as bits.
  using Threads = std::uint64_t;

  struct Point {
    std::vector<Transition> ways;
    /// Threads that need not run here: all that could follow is explored from a point where they ran earlier.
    Threads asleep = 0;
    /// For each thread, those whose next operation may not be exchanged with its own.
    std::vector<Threads> bound;
    std::size_t next = 0;
    /// Before this point.
    int preemptions = 0;
    /// The thread that ran last, if it could go on: to run another one is a preemption.
    std::optional<Thread> favourite;
  };

  void run_once(Report& report);
  /// What was thought to be explored may not have been: states were equal only with respect to a smaller footprint.
  void start_again(Report& report);
  bool open_point(Report& report);
  bool note_state(Report& report, Point& point);
  [[nodiscard]] std::uint64_t state(const Report& report, const Point& point) const;
  void inherit(Point& point) const;
  bool next_choices();
  [[nodiscard]] static int preemptions_of(const Point& point, const Transition& way);
  void fail(Violation violation, const std::string& text);

  const Options options_;
  const AfterFailure after_;
  const bool may_sleep_;
  Engine engine_;
  std::vector<Point> points_;
  /// Every state explored, with the threads that were asleep in all its visits.
  std::unordered_map<std::uint64_t, Threads> known_;
  std::size_t max_steps_;
  bool failed_ = false;
  bool exhausted_ = false;
  bool again_ = false;
  Violation violation_ = Violation::deadlock;
  std::string text_;
  std::vector<Transition> failing_;
};

}  // namespace baton::model
