// Runs of several chips are functions of a seed; seeds find what a kernel forgot.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "chip_fixture.hpp"
#include "kernels.hpp"
#include "seeded_kernels.hpp"
#include "seeded_ranks.hpp"
#include "support/scale.hpp"

namespace baton::chip {
namespace {

constexpr int kRanks = 3;

struct Outcome {
  bool right = true;   // every rank has the result it should have
  std::string events;  // of all ranks
};

float input_of(int rank, int index) { return static_cast<float>(1 + rank + index); }

/// What `kernel` should give at `index` of `rank`.
float expected(KernelEntry kernel, int rank, int index) {
  if (kernel == hand_on_kernel) return input_of((rank + kRanks - 1) % kRanks, index);
  float sum = 0;
  for (int r = 0; r < kRanks; ++r) sum += input_of(r, index);
  return sum;
}

/// Runs the kernel once on each rank.
Outcome run_once(KernelEntry kernel, Mistake mistake, std::uint64_t seed) {
  Outcome outcome;
  EventLog events;
  run_seeded_ranks(kRanks, seed, [&](Domain me) {
    auto window = me.window<float>("window", kTileFloats + 16);
    WindowMemory memory(comm::DomainAccess::state(me)->world_pointer());
    std::vector<float> in(kTileFloats), out(kTileFloats);
    for (int i = 0; i < kTileFloats; ++i) in[static_cast<std::size_t>(i)] = input_of(me.rank(), i);
    const ChipTensor tin = tensor_over(memory, in, "in");
    const ChipTensor tout = tensor_over(memory, out, "out");
    {
      SimCores cores(profile_named("a2a3sim"),
                     {.clusters = 1, .order = PipeOrder::program, .seed = seed, .events = &events}, memory);
      KernelCall call;
      call.entry = kernel;
      call.name = kernel == hand_on_kernel ? "hand_on" : "exchange";
      call.args = {address(&tin), address(&tout), address(window.context()), address(window.data()),
                   static_cast<std::int64_t>(mistake)};
      const auto [code, message] = failure_of(cores, cores.vector(0, 1), call);
      EXPECT_EQ(code, Code::ok) << message;
    }
    for (int i = 0; i < kTileFloats; ++i) {
      outcome.right = outcome.right && out[static_cast<std::size_t>(i)] == expected(kernel, me.rank(), i);
    }
    me.barrier();
  });
  outcome.events = events.text();
  return outcome;
}

TEST(Seeds, TwoRunsAreTheSameToTheByte) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const KernelEntry kernel : {exchange_kernel, hand_on_kernel}) {
      const Outcome first = run_once(kernel, Mistake::none, seed);
      ASSERT_EQ(first.events, run_once(kernel, Mistake::none, seed).events) << "seed " << seed;
      EXPECT_TRUE(first.right);
      EXPECT_NE(first.events.find("1 v0.1 "), std::string::npos) << first.events;
      EXPECT_NE(first.events.find("delivers window["), std::string::npos) << first.events;
    }
  }
}

TEST(Seeds, LinesHoldNoAddresses) {
  const std::string events = run_once(hand_on_kernel, Mistake::none, 7).events;
  EXPECT_EQ(events.find("0x"), std::string::npos) << events;
  EXPECT_NE(events.find("dma - copy 1 to window["), std::string::npos) << events;
  EXPECT_NE(events.find("awaited window["), std::string::npos) << events;
}

TEST(Seeds, AThousandSeedsGiveManyDifferentRuns) {
  const auto seeds = static_cast<std::uint64_t>(test::scaled(1000));
  std::set<std::string> exchanges;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Outcome outcome = run_once(exchange_kernel, Mistake::none, seed);
    ASSERT_TRUE(outcome.right) << "seed " << seed;
    exchanges.insert(std::move(outcome.events));
  }
  RecordProperty("different_runs", static_cast<int>(exchanges.size()));
  EXPECT_GE(exchanges.size(), seeds - seeds / 100);
}

TEST(Seeds, ARankSeesItsOwnNotificationsAndAFinishedKernelHasDeliveredThem) {
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    run_seeded_ranks(kRanks, seed, [&](Domain me) {
      auto window = me.window<float>("window", kTileFloats + 16);
      WindowMemory memory(comm::DomainAccess::state(me)->world_pointer());
      std::vector<float> in(kTileFloats), out(kTileFloats);
      const ChipTensor tin = tensor_over(memory, in, "in");
      const ChipTensor tout = tensor_over(memory, out, "out");
      SimCores cores(profile_named("a2a3sim"), {.clusters = 1, .seed = seed}, memory);
      KernelCall call;
      call.entry = look_back_kernel;
      call.name = "look_back";
      call.args = {address(&tin), address(&tout), address(window.context()), address(window.data())};
      cores.post(cores.vector(0, 0), call);
      cores.wait(call);
      EXPECT_EQ(out[0], 1.0F) << "seed " << seed;
      me.barrier();
      const auto* signal = reinterpret_cast<const std::int32_t*>(window.data() + kTileFloats);
      EXPECT_TRUE(memory.test(signal, WaitCmp::eq, 2, {})) << "seed " << seed;
      me.barrier();
    });
  }
}

class Mistakes : public ::testing::TestWithParam<std::pair<KernelEntry, Mistake>> {};

TEST_P(Mistakes, ShowUnderOneOfTheFirstSeedsAndTheRightKernelUnderNone) {
  constexpr std::uint64_t kSeeds = 64;
  const auto [kernel, mistake] = GetParam();
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_TRUE(run_once(kernel, Mistake::none, seed).right) << "seed " << seed;
    wrong += run_once(kernel, mistake, seed).right ? 0 : 1;
  }
  RecordProperty("wrong_runs", static_cast<int>(wrong));
  EXPECT_GE(wrong, 1U) << "of " << kSeeds;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Mistakes,
                         ::testing::Values(std::pair{&exchange_kernel, Mistake::no_wait},
                                           std::pair{&exchange_kernel, Mistake::early_notify},
                                           std::pair{&exchange_kernel, Mistake::waits_for_one},
                                           std::pair{&hand_on_kernel, Mistake::notifies_apart}));

TEST(EventLog, WritesAFileLineByLine) {
  const std::string path = ::testing::TempDir() + "baton_events_" + std::to_string(::getpid());
  {
    EventLog log(path);
    log.add("0 v0.0 add begins");
    log.add("0 v0.0 add ends");
    EXPECT_EQ(log.text(), "");
    std::stringstream read;
    read << std::ifstream(path).rdbuf();
    EXPECT_EQ(read.str(), "0 v0.0 add begins\n0 v0.0 add ends\n");
  }
  std::remove(path.c_str());
  EXPECT_THROW(EventLog("/nonexistent/folder/events"), Error);
}

}  // namespace
}  // namespace baton::chip
