// What all programs that run patterns have in common: the check of the order, and the clock.
#pragma once

#include <stdexcept>
#include <string>

#include "support/arguments.hpp"
#include "support/contend.hpp"
#include "support/measure.hpp"
#include "tasks/work.hpp"

namespace bench {

/// The life of one graph. Its caller says when all of it was submitted.
struct Times {
  Clock::time_point start = Clock::now();
  Clock::time_point submitted{};
  Clock::time_point done{};

  void all_submitted() { submitted = Clock::now(); }
  void all_done() { done = Clock::now(); }
};

/// `run_once(pattern)` runs all tasks and returns its Times. Prints the time per task: from the first submission to the
/// end of the last task, or, of the operation "submit", to the end of the last submission. "replay" runs a graph that
/// was built before.
template <class RunOnce>
void measure_pattern(const Arguments& arguments, const Pattern& pattern, RunOnce&& run_once) {
  const bool only_submission = arguments.operation == "submit";
  if (!only_submission && arguments.operation != "tasks" && arguments.operation != "replay")
    throw std::invalid_argument("unknown operation " + arguments.operation);
  check_order(pattern, [&] { static_cast<void>(run_once(pattern)); });
  work_time = arguments.work;
  if (arguments.work.count() != 0) body = do_work;
  const auto run = [&](std::int64_t graphs) {
    double total = 0;
    for (std::int64_t i = 0; i < graphs; ++i) {
      const Times times = run_once(pattern);
      const auto end = only_submission ? times.submitted : times.done;
      total += std::chrono::duration<double, std::nano>(end - times.start).count();
    }
    return total;
  };
  Measured measured = measure(arguments.budget, run, [](double x) { return x; });
  measured.median_ns /= static_cast<double>(pattern.tasks.size());
  measured.count *= static_cast<std::int64_t>(pattern.tasks.size());
  print(measured);
}

}  // namespace bench
