// Tasks that the thread of the orchestration runs itself.
#include <algorithm>
#include <chrono>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "chip/sched/crew_choice.hpp"
#include "chip/sched/kernel_lengths.hpp"
#include "kernels.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "tensors.hpp"

namespace baton::test {
namespace {

using chip::Crew;
using chip::CrewChoice;
using chip::KernelLengths;
using testing::Each;

/// How many kernels the submitting thread has run.
std::uint64_t run_in_place(const Chip& chip) {
  const TaskProfile profile = chip.task_profile();
  const auto found = std::ranges::find(profile.cores, "the submitting thread", &CoreProfile::core);
  return found == profile.cores.end() ? 0 : found->kernels;
}

ChipOptions always() { return {.clusters = 2, .in_place = InPlace::always, .profile = ProfileMode::summary}; }

TEST(InPlace, AllTasksRunOnTheSubmittingThreadIfAsked) {
  Chip chip(always());
  const Tensor y = chip.alloc<float>({4});
  chip.run([&](Graph& g) {
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(g.submit(add_one, y), static_cast<TaskId>(i + 1));
    // They are complete when submit() returns.
    EXPECT_EQ(g.get<float>(y, {3}), 1000.0F);
  });
  EXPECT_THAT(values_of<float>(chip, y), Each(1000.0F));
  EXPECT_EQ(run_in_place(chip), 1000U);
}

TEST(InPlace, NoTaskDoesIfAsked) {
  ChipOptions options = always();
  options.in_place = InPlace::never;
  Chip chip(options);
  const Tensor y = chip.alloc<float>({4});
  chip.run([&](Graph& g) {
    for (int i = 0; i < 1000; ++i) g.submit(add_one, y);
  });
  EXPECT_THAT(values_of<float>(chip, y), Each(1000.0F));
  EXPECT_EQ(run_in_place(chip), 0U);
}

TEST(InPlace, AKernelThatWaitsDoesNotKeepTheSubmitter) {
  Chip chip(always());
  const Tensor flag = chip.alloc<std::int32_t>({1});
  const Tensor y = chip.alloc<float>({4});
  for (std::int32_t round = 1; round <= scaled(100); ++round) {
    chip.run([&](Graph& g) {
      // What it waits for is submitted after it, and somebody depends on it.
      g.submit(kAwait, {{Access::inout, y}, word_of(flag), round});
      g.submit(add_one, y);
      g.submit(notify, flag, 1);
    });
    ASSERT_THAT(values_of<float>(chip, y), Each(static_cast<float>(round)));
  }
}

TEST(InPlace, AKernelThatIsDeferredIsWaitedFor) {
  Chip chip(always());
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  const Tensor z = chip.alloc<float>({4});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  chip.copy_in<float>(x, std::vector<float>(4, 3.0F));
  for (int round = 0; round < scaled(100); ++round) {
    chip.copy_in<std::int32_t>(flag, std::vector<std::int32_t>{0});
    chip.run([&](Graph& g) {
      g.submit(kTwiceLater, {{Access::in, x}, {Access::out, y}, word_of(flag)});
      g.submit(twice, y, z);
      g.submit(notify, flag, 1);
    });
    ASSERT_THAT(values_of<float>(chip, z), Each(12.0F));
    // One whose condition holds already.
    chip.run([&](Graph& g) {
      g.submit(kTwiceLater, {{Access::in, y}, {Access::out, z}, word_of(flag)});
      EXPECT_EQ(g.get<float>(z, {0}), 12.0F);
    });
  }
}

TEST(InPlace, AFailureReachesThoseThatDependOnItAndNoOthers) {
  Chip chip(always());
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  for (int round = 1; round <= 3; ++round) {
    const Error error =
        require_error(Code::invalid_argument,
                      {"refuse", "the submitting thread", "refused on purpose", "in_place_test.cpp", "add_one"}, [&] {
                        chip.run([&](Graph& g) {
                          g.submit(refuse, y);
                          g.submit(add_one, y);
                          g.submit(add_one, x);
                        });
                      });
    EXPECT_THAT(values_of<float>(chip, x), Each(static_cast<float>(round)));
    EXPECT_THAT(values_of<float>(chip, y), Each(0.0F));
  }
  require_error(Code::kernel_fault, {"crash", "the submitting thread"},
                [&] { chip.run([&](Graph& g) { g.submit(crash, y); }); });
  chip.run([&](Graph& g) { g.submit(add_one, y); });
  EXPECT_THAT(values_of<float>(chip, y), Each(1.0F));
}

TEST(InPlace, MemoryIsLookedAtAsWithOthers) {
  Chip chip(always());
  const Tensor gone = chip.alloc<float>({4});
  chip.run([&](Graph& g) { g.submit(add_one, gone); });
  chip.free(gone);
  require_error(Code::released, {"is not memory of this chip"},
                [&] { chip.run([&](Graph& g) { g.submit(add_one, gone); }); });
  require_error(Code::released, {"scope"}, [&] {
    chip.run([&](Graph& g) {
      Tensor output;
      {
        const auto scope = g.scope();
        output = g.output(DType::float32, {4});
        g.submit(add_one, output);
      }
      g.submit(add_one, output);
    });
  });
}

TEST(InPlace, GivesTheSameResultsAsThreads) {
  // Short kernels begin to run in place by themselves, and one that waits stops it for a while.
  Chip chip({.clusters = 2, .in_place = InPlace::automatic});
  const Tensor y = chip.alloc<float>({1});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  for (int round = 1; round <= scaled(20); ++round) {
    chip.run([&](Graph& g) {
      for (int i = 0; i < 1000; ++i) g.submit(add_one, y);
      g.submit(kAwait, {{Access::inout, y}, word_of(flag), round});
      g.submit(add_one, y);
      g.submit(notify, flag, 1);
      for (int i = 0; i < 1000; ++i) g.submit(add_one, y);
    });
    ASSERT_EQ(values_of<float>(chip, y)[0], 2001.0F * static_cast<float>(round));
  }
}

#if !defined(BATON_SANITIZE_THREAD) && !defined(BATON_SANITIZE_ADDRESS)  // which make all kernels long
/// Longer than any kernel that is run in place.
void linger(std::int64_t* /*args*/) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(20 * KernelLengths::kShortNs);
  while (std::chrono::steady_clock::now() < end) {
  }
}
constexpr Kernel kLinger = {"linger", linger, nullptr, BATON_CORE_VECTOR, 0};

TEST(InPlace, ShortKernelsBehindALongOneAreRunThereOnceTheWindowIsFull) {
  Chip chip({.clusters = 2, .task_window = 64, .in_place = InPlace::automatic, .profile = ProfileMode::summary});
  const Tensor y = chip.alloc<float>({1});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  constexpr int kTasks = 5000;
  int runs = 0;
  // On a busy machine a measurement may be long, and what is under way may take long.
  while (run_in_place(chip) < kTasks / 2 && std::chrono::steady_clock::now() < deadline) {
    chip.run([&](Graph& g) {
      g.submit(kLinger, {{Access::inout, y}});
      for (int i = 0; i < kTasks; ++i) g.submit(add_one, y);
    });
    ++runs;
  }
  EXPECT_GE(run_in_place(chip), static_cast<std::uint64_t>(kTasks / 2)) << "in " << runs << " runs";
  EXPECT_EQ(values_of<float>(chip, y)[0], static_cast<float>(runs) * kTasks);
}
#endif

void first_kernel(std::int64_t* /*args*/) {}
void second_kernel(std::int64_t* /*args*/) {}

TEST(KernelLengths, TheLastMeasurementCounts) {
  KernelLengths lengths;
  EXPECT_FALSE(lengths.is_short(first_kernel)) << "nothing is known of it";
  lengths.note(first_kernel, 100'000);  // with nothing in the caches
  EXPECT_FALSE(lengths.is_short(first_kernel));
  lengths.note(first_kernel, KernelLengths::kShortNs - 1);
  EXPECT_TRUE(lengths.is_short(first_kernel));
  EXPECT_FALSE(lengths.is_short(second_kernel));
  lengths.note(first_kernel, KernelLengths::kShortNs);
  EXPECT_FALSE(lengths.is_short(first_kernel));
  lengths.note(first_kernel, 50);
  lengths.note(first_kernel, std::int64_t{1} << 40U);
  EXPECT_TRUE(lengths.is_short(first_kernel)) << "its thread may have lost the processor";
  for (int i = 0; i < 40; ++i) lengths.note(first_kernel, std::int64_t{1} << 40U);
  EXPECT_FALSE(lengths.is_short(first_kernel)) << "longer than an entry can say";
  // A wait is reason enough.
  lengths.note(second_kernel, 50);
  ASSERT_TRUE(lengths.is_short(second_kernel));
  lengths.note_wait(second_kernel);
  EXPECT_FALSE(lengths.is_short(second_kernel));
}

/// The crews of the next runs of a graph that takes so long for each task.
std::vector<Crew> crews(CrewChoice& choice, int runs, std::int64_t all_ns, std::int64_t alone_ns,
                        std::uint64_t threads = 2) {
  constexpr std::uint64_t kTasks = 100;
  std::vector<Crew> seen;
  for (int i = 0; i < runs; ++i) {
    seen.push_back(choice.choose(kTasks, threads));
    choice.note(seen.back(), static_cast<std::int64_t>(kTasks) * (seen.back() == Crew::all ? all_ns : alone_ns));
  }
  return seen;
}

TEST(CrewChoice, TheFasterOneStays) {
  CrewChoice alone_is_faster;
  EXPECT_EQ(crews(alone_is_faster, 10, 100, 50).back(), Crew::alone);
  CrewChoice all_are_faster;
  EXPECT_EQ(crews(all_are_faster, 10, 50, 100).back(), Crew::all);
  CrewChoice long_tasks;
  EXPECT_THAT(crews(long_tasks, 2000, 5000, 50), Each(Crew::all));
  CrewChoice many_threads;
  EXPECT_THAT(crews(many_threads, 2000, 640, 10'000, 16), Each(Crew::all));
  CrewChoice waiting;
  waiting.note_others_are_needed();
  EXPECT_THAT(crews(waiting, 2000, 100, 50), Each(Crew::all));
}

TEST(CrewChoice, KernelsThatWaitForEachOtherAreRunByAll) {
  // They occupy more cores than one thread has, until the last of them has run.
  Chip chip({.clusters = 4, .threads = 2});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  const Tensor y = chip.alloc<float>({64});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    // Enough short ones for one thread to be tried.
    for (int i = 0; i < 4096; ++i) g.submit(add_one, y.slice(i % 64, i % 64 + 1));
    for (int i = 1; i < chip.vector_cores(); ++i) g.submit(kAwait, {{Access::no_dependency, y}, word_of(flag), 1});
    g.submit(notify, flag, 1);
  });
  for (int round = 1; round <= scaled(50); ++round) {
    chip.copy_in<std::int32_t>(flag, std::vector<std::int32_t>{0});
    chip.run(graph);
    ASSERT_EQ(values_of<float>(chip, y.slice(31, 32))[0], 64.0F * static_cast<float>(round));
  }
}

}  // namespace
}  // namespace baton::test
