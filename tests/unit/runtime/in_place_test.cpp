// Tasks that the thread of the orchestration runs itself.
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "chip/sched/crew_choice.hpp"
#include "chip/sched/kernel_lengths.hpp"
#include "kernels.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using chip::Crew;
using chip::CrewChoice;
using chip::KernelLengths;
using testing::Each;

std::int32_t* word_of(const Tensor& tensor) { return reinterpret_cast<std::int32_t*>(tensor.address()); }

std::vector<float> values(Chip& chip, const Tensor& tensor) {
  std::vector<float> out(static_cast<std::size_t>(tensor.element_count()));
  chip.copy_out<float>(tensor, out);
  return out;
}

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
  EXPECT_THAT(values(chip, y), Each(1000.0F));
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
  EXPECT_THAT(values(chip, y), Each(1000.0F));
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
    ASSERT_THAT(values(chip, y), Each(static_cast<float>(round)));
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
    ASSERT_THAT(values(chip, z), Each(12.0F));
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
    EXPECT_THAT(values(chip, x), Each(static_cast<float>(round)));
    EXPECT_THAT(values(chip, y), Each(0.0F));
  }
  require_error(Code::kernel_fault, {"crash", "the submitting thread"},
                [&] { chip.run([&](Graph& g) { g.submit(crash, y); }); });
  chip.run([&](Graph& g) { g.submit(add_one, y); });
  EXPECT_THAT(values(chip, y), Each(1.0F));
}

TEST(InPlace, MemoryIsLookedAtAsWithOthers) {
  Chip chip(always());
  const Tensor gone = chip.alloc<float>({4});
  chip.run([&](Graph& g) { g.submit(add_one, gone); });
  chip.free(gone);
  require_error(Code::released, {"is no memory of this chip"},
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

TEST(InPlace, WhoeverRunsThemTheResultsAreTheSame) {
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
    ASSERT_EQ(values(chip, y)[0], 2001.0F * static_cast<float>(round));
  }
}

void first_kernel(std::int64_t* /*args*/) {}
void second_kernel(std::int64_t* /*args*/) {}

TEST(KernelLengths, OnesThatSeemShortAreTriedAndKept) {
  KernelLengths lengths;
  EXPECT_EQ(lengths.ask(first_kernel, 1), KernelLengths::Advice::hand_over);
  EXPECT_TRUE(lengths.wants(first_kernel));
  lengths.tell(first_kernel, 100'000);  // with nothing in the caches
  EXPECT_FALSE(lengths.seems_short(first_kernel, 2));
  lengths.tell(first_kernel, 50);
  EXPECT_TRUE(lengths.seems_short(first_kernel, 3));
  EXPECT_EQ(lengths.ask(first_kernel, 3), KernelLengths::Advice::run_measured);
  lengths.note(first_kernel, 2 * KernelLengths::kLongNs, 4);
  EXPECT_EQ(lengths.ask(first_kernel, 4), KernelLengths::Advice::run_measured) << "once is no proof";
  lengths.note(first_kernel, 50, 5);
  EXPECT_EQ(lengths.ask(first_kernel, 5), KernelLengths::Advice::run);
  EXPECT_EQ(lengths.ask(second_kernel, 6), KernelLengths::Advice::hand_over);
  // Others may be longer now and then.
  for (int i = 0; i < 4; ++i) lengths.tell(first_kernel, 1000);
  EXPECT_TRUE(lengths.seems_short(first_kernel, 7));
}

TEST(KernelLengths, OnesThatTurnLongAreHandedOverAndTriedAgainLater) {
  KernelLengths lengths;
  for (int i = 0; i < 4; ++i) lengths.tell(first_kernel, 50);
  ASSERT_EQ(lengths.ask(first_kernel, 1), KernelLengths::Advice::run_measured);
  lengths.note(first_kernel, 50, 2);
  std::vector<KernelLengths::Advice> seen;
  std::uint64_t task = 2;
  for (; task < 100'000; ++task) {
    const KernelLengths::Advice advice = lengths.ask(first_kernel, task);
    if (seen.empty() || seen.back() != advice) seen.push_back(advice);
    if (advice == KernelLengths::Advice::hand_over) break;
    if (advice == KernelLengths::Advice::run_measured) lengths.note(first_kernel, 10 * KernelLengths::kLongNs, task);
  }
  EXPECT_THAT(seen, testing::ElementsAre(KernelLengths::Advice::run, KernelLengths::Advice::run_measured,
                                         KernelLengths::Advice::hand_over));
  EXPECT_FALSE(lengths.seems_short(first_kernel, task));
  // Whoever asks, and also if nobody does.
  EXPECT_TRUE(lengths.seems_short(first_kernel, task + 100'000));
  EXPECT_EQ(lengths.ask(first_kernel, task + 100'000), KernelLengths::Advice::run_measured);
  // A wait is reason enough.
  for (int i = 0; i < 4; ++i) lengths.tell(second_kernel, 50);
  ASSERT_EQ(lengths.ask(second_kernel, 1), KernelLengths::Advice::run_measured);
  lengths.note_wait(second_kernel, 2);
  EXPECT_EQ(lengths.ask(second_kernel, 2), KernelLengths::Advice::hand_over);
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
  Chip chip({.clusters = 4, .workers = 2});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  const Tensor y = chip.alloc<float>({64});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    // So many short ones that one thread is tried.
    for (int i = 0; i < 4096; ++i) g.submit(add_one, y.slice(i % 64, i % 64 + 1));
    for (int i = 1; i < chip.vector_cores(); ++i) g.submit(kAwait, {{Access::no_dependency, y}, word_of(flag), 1});
    g.submit(notify, flag, 1);
  });
  for (int round = 1; round <= scaled(50); ++round) {
    chip.copy_in<std::int32_t>(flag, std::vector<std::int32_t>{0});
    chip.run(graph);
    ASSERT_EQ(values(chip, y.slice(31, 32))[0], 64.0F * static_cast<float>(round));
  }
}

}  // namespace
}  // namespace baton::test
