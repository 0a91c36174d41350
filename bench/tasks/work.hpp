// What tasks do: nothing, or as much as is asked for, while the clock runs; in a run besides, something that shows
// their order.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tasks/patterns.hpp"

namespace bench {

using Body = void (*)(const PatternTask&);

inline void do_nothing(const PatternTask& /*task*/) {}

/// How long do_work() takes.
inline std::chrono::nanoseconds work_time{0};

inline void do_work(const PatternTask& /*task*/) {
  const auto end = std::chrono::steady_clock::now() + work_time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// What every task calls. Not constant, so that no compiler removes the call.
inline Body body = do_nothing;

/// What do_mixing() works on. Changed only while no task runs.
struct Mixed {
  const PatternTask* first = nullptr;
  std::vector<std::uint64_t> cells;
  std::atomic<std::size_t> tasks_run{0};
};
inline Mixed mixed;

[[nodiscard]] inline std::uint64_t mix(std::uint64_t value, std::uint64_t with) {
  value = (value ^ with) * 0x9E3779B97F4A7C15U;
  return value ^ (value >> 29);
}

/// Mixes what the task reads into what it writes: any order that an edge forbids leaves other numbers. Some tasks take
/// longer than others, so that those which should have waited overtake them.
inline void do_mixing(const PatternTask& task) {
  std::uint64_t value = mix(1, static_cast<std::uint64_t>(&task - mixed.first));
  for (std::uint32_t i = 0; i < task.read_count; ++i) value = mix(value, mixed.cells[task.reads[i]]);
  for (std::uint32_t i = 0; i < task.range_count; ++i) value = mix(value, mixed.cells[task.range + i]);
  if (task.update) value = mix(value, mixed.cells[task.write]);
  for (std::uint64_t i = value % 256; i > 0; --i) value = mix(value, i);
  mixed.cells[task.write] = value;
  mixed.tasks_run.fetch_add(1, std::memory_order_relaxed);
}

inline void start_mixing(const Pattern& pattern) {
  mixed.first = pattern.tasks.data();
  mixed.cells.assign(pattern.cells, 0);
  mixed.tasks_run = 0;
}

/// `run_once()` runs the pattern; throws if its result is not that of the order in which it is written.
template <class RunOnce>
void check_order(const Pattern& pattern, RunOnce&& run_once) {
  start_mixing(pattern);
  for (const PatternTask& task : pattern.tasks) do_mixing(task);
  const std::vector<std::uint64_t> expected = std::move(mixed.cells);
  start_mixing(pattern);
  body = do_mixing;
  run_once();
  body = do_nothing;
  if (mixed.tasks_run != pattern.tasks.size()) {
    throw std::runtime_error(std::to_string(mixed.tasks_run) + " of " + std::to_string(pattern.tasks.size()) +
                             " tasks ran");
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (mixed.cells[i] != expected[i])
      throw std::runtime_error("tasks ran in a wrong order: cell " + std::to_string(i) + " shows it");
  }
}

}  // namespace bench
