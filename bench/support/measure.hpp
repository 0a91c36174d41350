// The one timing loop of all measuring programs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

/// What a measuring program reports: the median over batches of the time per operation.
struct Measured {
  double median_ns = 0;
  std::int64_t count = 0;
};

[[nodiscard]] inline double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

[[nodiscard]] inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// `run(n)` does n operations on every rank and returns the nanoseconds this rank spent in them; `agree(x)` returns the
/// same number on every rank, made from the x of those that measure. All ranks decide from agreed numbers alone, so
/// they stay in step without a fixed count. Finding the size of a batch is the warm-up.
template <class Run, class Agree>
[[nodiscard]] Measured measure(std::chrono::nanoseconds budget, Run&& run, Agree&& agree) {
  constexpr int kBatchesPerBudget = 16;
  constexpr std::size_t kFewestBatches = 5;
  constexpr std::size_t kFewestSlowBatches = 3;
  const double budget_ns = static_cast<double>(budget.count());
  const double batch_ns = budget_ns / kBatchesPerBudget;

  std::int64_t n = 1;
  double elapsed = agree(run(n));
  while (elapsed < batch_ns / 2) {
    n *= 2;
    elapsed = agree(run(n));
  }
  n = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(n) * batch_ns / elapsed));

  std::vector<double> per_operation;
  double total = 0;
  while (total < budget_ns || per_operation.size() < kFewestBatches) {
    if (total > 2 * budget_ns && per_operation.size() >= kFewestSlowBatches) break;
    elapsed = agree(run(n));
    total += elapsed;
    per_operation.push_back(elapsed / static_cast<double>(n));
  }
  return {median(per_operation), n * static_cast<std::int64_t>(per_operation.size())};
}

/// For ranks that do all n operations of `run(n)` together: the time is from the first rank's start until the last
/// one's end. Ranks that share a processor do not start together, and one that starts late must not seem fast.
/// `largest(x)` is the largest x of all ranks, the same on each.
template <class Run, class Largest>
[[nodiscard]] Measured measure_together(std::chrono::nanoseconds budget, Run&& run, Largest&& largest) {
  const auto from_first_to_last = [&](std::int64_t n) {
    static_cast<void>(largest(0));
    const double start = nanoseconds_since({});
    run(n);
    const double end = nanoseconds_since({});
    return largest(end) + largest(-start);
  };
  return measure(budget, from_first_to_last, [](double agreed) { return agreed; });
}

/// The line that the harness reads.
inline void print(const Measured& measured) {
  std::printf("{\"median_ns\": %.3f, \"count\": %lld}\n", measured.median_ns, static_cast<long long>(measured.count));
  std::fflush(stdout);
}

/// The line for cases that measure memory: what is occupied after `count` operations.
inline void print_bytes(std::uint64_t bytes, std::int64_t count) {
  std::printf("{\"bytes\": %llu, \"count\": %lld}\n", static_cast<unsigned long long>(bytes),
              static_cast<long long>(count));
  std::fflush(stdout);
}

/// The line for cases in which the harness measures from its own start of the processes.
inline void print_ready_now() {
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch());
  std::printf("{\"ready_at_ns\": %lld, \"count\": 1}\n", static_cast<long long>(now.count()));
  std::fflush(stdout);
}

}  // namespace bench
