#include <baton/task_profile.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "base/table.hpp"

namespace baton {
namespace {

/// The table names this many cores and counts the others.
constexpr std::size_t kNamedCores = 8;

std::string duration(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns >= 1'000'000'000) return fmt::format("{:.2f} s", value / 1e9);
  if (ns >= 1'000'000) return fmt::format("{:.2f} ms", value / 1e6);
  if (ns >= 1'000) return fmt::format("{:.2f} us", value / 1e3);
  return fmt::format("{} ns", ns);
}

/// Of a part of the tasks; nothing if there are none.
std::string count_of(std::uint64_t count) { return count == 0 ? "" : fmt::format("{}", count); }

}  // namespace

std::string TaskProfile::table() const {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "tasks", "total", "mean", "max", "mean wait", "deferred", "failed", "not run"}};
  for (const KernelProfile& kernel : kernels) {
    const auto ran = static_cast<std::int64_t>(kernel.count - kernel.not_run);
    rows.push_back({kernel.kernel.empty() ? "(no kernel)" : kernel.kernel, fmt::format("{}", kernel.count),
                    duration(kernel.total_ns), ran == 0 ? "" : duration(kernel.total_ns / ran), duration(kernel.max_ns),
                    ran == 0 ? "" : duration(kernel.waiting_ns / ran), count_of(kernel.deferred),
                    count_of(kernel.failed), count_of(kernel.not_run)});
  }
  std::string text = fmt::format("profile of {} of runs\n\n{}\n", duration(elapsed_ns), format_table(rows));

  std::vector<const CoreProfile*> busiest;
  for (const CoreProfile& core : cores) busiest.push_back(&core);
  std::ranges::stable_sort(busiest, [](const auto* a, const auto* b) { return a->busy > b->busy; });
  rows = {{"core", "kernels", "busy"}};
  for (std::size_t i = 0; i < std::min(busiest.size(), kNamedCores); ++i) {
    rows.push_back(
        {busiest[i]->core, fmt::format("{}", busiest[i]->kernels), fmt::format("{:.1f} %", 100 * busiest[i]->busy)});
  }
  text += format_table(rows);
  if (busiest.size() > kNamedCores) text += fmt::format("and {} other cores\n", busiest.size() - kNamedCores);

  text += fmt::format("\nmost at once: {} of {} tasks in the window, {} of {} bytes of outputs, {} deferred\n",
                      high_water.tasks, high_water.task_window, high_water.output_bytes, high_water.output_heap_bytes,
                      high_water.deferred);
  return text;
}

}  // namespace baton
