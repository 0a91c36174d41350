// Which kernels are over before another thread would have begun.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <baton/kernel_abi.hpp>

namespace baton::chip {

/// The threads of the chip tell what they measured now and then; of those that seem short the submitter tries some
/// itself, and goes on as long as they are. One thread asks and notes; any thread tells. `task` counts the tasks of the
/// chip.
class KernelLengths {
 public:
  enum class Advice : std::uint8_t {
    hand_over,
    run,          // in place: it is short
    run_measured  // in place, and note() says how long it took
  };

  /// A kernel of this length, the look at the clock included, is worth another thread.
  static constexpr std::int64_t kLongNs = 400;
  /// So much is spent on finding out whether a kernel is short: the first runs find nothing in the caches.
  static constexpr std::int64_t kTrialNs = 100'000;
  static constexpr std::uint8_t kTrialRuns = 16;

  /// Any thread: whether it should measure the next run of `kernel` because little is known of it.
  [[nodiscard]] bool wants(BatonKernelFunction kernel) const noexcept {
    const Told& told = told_[place_of(kernel)];
    return told.kernel.load(std::memory_order_relaxed) != kernel ||
           told.runs.load(std::memory_order_relaxed) < kFirstRuns;
  }
  /// Any thread: a run of `kernel` took so long.
  void tell(BatonKernelFunction kernel, std::int64_t ns) noexcept {
    // Hints: nothing else is ordered by them, and with several threads they may be of different kernels.
    Told& told = told_[place_of(kernel)];
    const bool known = told.kernel.load(std::memory_order_relaxed) == kernel;
    const std::uint32_t runs = known ? told.runs.load(std::memory_order_relaxed) : 0;
    // Many find nothing in the caches: a shorter time counts at once, longer ones little by little.
    if (runs > 0) {
      const std::int64_t before = told.ns.load(std::memory_order_relaxed);
      if (ns > before) ns = runs < kFirstRuns ? before : before + (ns - before) / 8;
    }
    told.ns.store(ns, std::memory_order_relaxed);
    told.runs.store(runs + 1, std::memory_order_relaxed);
    told.kernel.store(kernel, std::memory_order_relaxed);
  }

  /// What to do with the next task of `kernel`.
  [[nodiscard]] Advice ask(BatonKernelFunction kernel, std::uint64_t task) noexcept {
    Entry& entry = entries_[place_of(kernel)];
    if (entry.kernel == kernel && task < entry.until) [[likely]]
      return entry.is_short ? Advice::run : Advice::hand_over;
    if (!seems_short(kernel, task)) return Advice::hand_over;
    if (entry.kernel != kernel) entry = {.kernel = kernel};
    return Advice::run_measured;
  }

  /// Whether ask() would not hand it over.
  [[nodiscard]] bool seems_short(BatonKernelFunction kernel, std::uint64_t task) const noexcept {
    const Entry& entry = entries_[place_of(kernel)];
    if (entry.kernel == kernel && (entry.is_short || task < entry.until)) return entry.is_short;
    return told_short(kernel);
  }

  /// A run in place took so long.
  void note(BatonKernelFunction kernel, std::int64_t ns, std::uint64_t task) noexcept {
    Entry& entry = entries_[place_of(kernel)];
    entry.is_short = true;
    if (ns < kLongNs) {
      entry = {.kernel = kernel, .until = task + kTasksPerMeasurement, .is_short = true};
    } else if ((entry.trial_ns += ns) >= kTrialNs || ++entry.trial_runs == kTrialRuns) {
      entry = {.kernel = kernel, .until = task + kTasksUntilNextTry};
    }
  }

  /// It waited, or was deferred: whoever submits must not do that.
  void note_wait(BatonKernelFunction kernel, std::uint64_t task) noexcept {
    entries_[place_of(kernel)] = {.kernel = kernel, .until = task + kTasksUntilNextTry};
  }

 private:
  static constexpr std::uint64_t kTasksPerMeasurement = 256;
  static constexpr std::uint64_t kTasksUntilNextTry = 4096;
  static constexpr std::uint32_t kFirstRuns = 4;
  static constexpr std::size_t kEntries = 256;

  struct Entry {
    BatonKernelFunction kernel = nullptr;
    std::uint64_t until = 0;  // what is known counts for tasks before it
    std::uint8_t trial_runs = 0;
    bool is_short = false;
    std::int64_t trial_ns = 0;
  };

  struct Told {
    std::atomic<BatonKernelFunction> kernel{nullptr};
    std::atomic<std::int64_t> ns{0};
    std::atomic<std::uint32_t> runs{0};
  };

  [[nodiscard]] bool told_short(BatonKernelFunction kernel) const noexcept {
    const Told& told = told_[place_of(kernel)];
    return told.kernel.load(std::memory_order_relaxed) == kernel && told.ns.load(std::memory_order_relaxed) < kLongNs;
  }

  /// Two kernels in the same place measure each other away, and are handed over more often.
  [[nodiscard]] static std::size_t place_of(BatonKernelFunction kernel) noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(kernel) * kOdd >> 56U);
  }

  std::array<Entry, kEntries> entries_{};
  std::array<Told, kEntries> told_;
};

}  // namespace baton::chip
