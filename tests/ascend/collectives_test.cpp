// Collectives inside kernels of 1 to 8 Ascend chips: every operation, algorithm and element, one after the other in one
// room; and in graphs. The cases, and what is right, are those of tests/collectives.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>
#include <collectives/member.hpp>

#include "collectives/chip_cases.hpp"
#include "collectives/one_of_each_kind.hpp"
#include "ending.hpp"
#include "job.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario_run.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr std::size_t kMostElements = 700;

KernelFile collective_kernels() {
  return KernelFile::compile({.source = ASCEND_COLLECTIVE_KERNELS, .platform = "a2a3"});
}

/// Compiles once, before ranks start whose deadlines would run meanwhile.
class CompiledKernels final : public testing::Environment {
 public:
  void SetUp() override { static_cast<void>(collective_kernels()); }
};
const testing::Environment* const compiled_kernels = testing::AddGlobalTestEnvironment(new CompiledKernels);

/// A rank whose chip has memory of its own: data goes there and back.
class DeviceRank {
 public:
  DeviceRank(Domain& me, std::size_t data_bytes, std::size_t room_bytes)
      : me_(me),
        buffers_(me, data_bytes),
        chip_(me, {.platform = "a2a3", .device = me.rank(), .output_heap_bytes = std::uint64_t{1} << 16U}),
        kernel_(collective_kernels().kernel("collectives_test_call")) {
    const auto signals = static_cast<std::size_t>(collectives::signals_needed(me.size()));
    window_ = chip_.window(me, "room", signals * sizeof(std::int32_t) + room_bytes);
    auto* words = reinterpret_cast<std::int32_t*>(window_.local());
    signals_ = Tensor::over(std::span(words, signals));
    room_ = Tensor::over(std::span(reinterpret_cast<std::byte*>(words + signals), room_bytes));
    counts_ = chip_.alloc<std::int32_t>({2 * me.size()});
    x_ = chip_.alloc<std::byte>({static_cast<std::int64_t>(data_bytes)});
    y_ = chip_.alloc<std::byte>({static_cast<std::int64_t>(data_bytes)});
  }

  /// Elements that are wrong after the call.
  std::size_t call(const Case& one, int round) {
    return wrong_elements(me_, buffers_, one, round,
                          [&](const Domain&, const Case& made, ConstData in, Data out) { make(made, in, out); });
  }

 private:
  void make(const Case& one, ConstData in, Data out) {
    const std::size_t in_bytes = in.count() * size_of(one.element);
    const std::size_t out_bytes = out.count() * size_of(one.element);
    const bool one_buffer = in.address() == out.address() || one.operation == Operation::broadcast;
    chip_.copy_in<std::int32_t>(counts_, std::vector<std::int32_t>(static_cast<std::size_t>(2 * me_.size()),
                                                                   static_cast<std::int32_t>(one.count)));
    const auto copy_in = [&](const Tensor& to, const std::byte* from, std::size_t bytes) {
      if (bytes != 0) chip_.copy_in<std::byte>(to.slice(0, static_cast<std::int64_t>(bytes)), std::span(from, bytes));
    };
    copy_in(x_, in.address(), in_bytes);
    copy_in(y_, out.address(), out_bytes);
    const Tensor& x = one_buffer ? y_ : x_;
    chip_.run([&](Graph& graph) {
      const Argument arguments[] = {{Access::no_dependency, x},
                                    {Access::inout, y_},
                                    {Access::inout, room_},
                                    {Access::inout, signals_},
                                    {Access::in, counts_},
                                    window_.context(),
                                    one.operation,
                                    one.element,
                                    one.op,
                                    one.root,
                                    one.algorithm,
                                    one.count};
      graph.submit_arguments(kernel_.get(), arguments);
    });
    if (out_bytes == 0) return;
    chip_.copy_out<std::byte>(y_.slice(0, static_cast<std::int64_t>(out_bytes)), std::span(out.address(), out_bytes));
  }

  Domain& me_;
  Buffers buffers_;
  Chip chip_;
  LoadedKernel kernel_;
  ChipWindow window_;
  Tensor signals_;
  Tensor room_;
  Tensor counts_;
  Tensor x_;
  Tensor y_;
};

void check_call(DeviceRank& rank, const Case& one, int round) {
  const std::size_t wrong = rank.call(one, round);
  if (wrong != 0) throw CheckFailed(std::to_string(wrong) + " wrong: " + describe(one));
}

const Wishes kUpToEight = {.sizes = {1, 2, 3, 4, 5, 6, 7, 8}, .hostings = {Hosting::processes}};

}  // namespace

SCENARIO(EveryAlgorithm, kUpToEight) {
  const auto ranks = static_cast<std::size_t>(me.size());
  DeviceRank rank(me, (kMostElements + 8) * 8 * ranks, ranks * 1000);
  int round = 0;
  for (const auto& [operation, algorithm] : chip_algorithms()) {
    ++round;
    check_call(rank,
               {.operation = operation,
                .count = 130,
                .root = round % me.size(),
                .memory = Memory::windows,
                .algorithm = algorithm},
               round);
  }
}

SCENARIO(RandomCalls, kUpToEight) {
  std::mt19937_64 random(static_cast<std::uint64_t>(me.size()));
  const auto ranks = static_cast<std::size_t>(me.size());
  DeviceRank rank(me, (kMostElements + 8) * 8 * ranks, ranks * 1000);
  for (int round = 0; round < scaled(20); ++round) {
    check_call(rank, draw_chip_case(random, me.size(), kMostElements), round);
  }
}

SCENARIO(InGraphs, kUpToEight) {
  one_of_each_kind(me, {.platform = "a2a3", .device = me.rank(), .output_heap_bytes = std::uint64_t{1} << 16U});
}

namespace {

/// Two calls; rank 2 does not make the second one because of `instead`. Before its chip is opened, it calls `prepare`.
void without_rank_2(const Newcomer& me, void (*prepare)(), void (*instead)()) {
  survives_with_error([&] {
    Domain domain = join_and_tell(me);
    if (domain.rank() == 2) prepare();
    DeviceRank rank(domain, 8000, 4000);
    const Case sum{.count = 100, .memory = Memory::windows};
    check_call(rank, sum, 1);
    if (domain.rank() == 2) instead();
    check_call(rank, sum, 2);
  });
}

void go_on() {}

}  // namespace

SCENARIO_BEFORE_JOIN(OneDies, {.sizes = {4}, .hostings = {Hosting::processes}}) {
  without_rank_2(me, go_on, [] { ::kill(::getpid(), SIGKILL); });
}
SCENARIO_BEFORE_JOIN(OneFails, {.sizes = {4}, .hostings = {Hosting::processes}}) {
  without_rank_2(
      me, [] { ::setenv("STANDIN_FAIL", "aclrtLaunchKernelWithHostArgs:2=507015", 1); }, go_on);
}
SCENARIO_BEFORE_JOIN(OneThrows, {.sizes = {4}, .hostings = {Hosting::processes}}) {
  without_rank_2(me, go_on, [] { throw Error(Code::invalid_argument, "rank 2 has given up"); });
}

namespace {

/// Their kernels wait on the chip for one that never comes; the limit of kernels is minutes away.
void expect_named(const char* scenario, const std::vector<std::string>& culprit) {
  Job job(scenario, 4);
  job.start();
  job.finish();
  std::vector<std::string> parts = {
      "kernel 'collectives_test_call' does not end, and one that may have to notify it is gone",
      "this chip cannot be used any more", "collectives_test.cpp"};
  parts.insert(parts.end(), culprit.begin(), culprit.end());
  for (const int rank : {0, 1, 3}) job.expect_caught(rank, "peer_died", parts);
}

TEST(AscendKernelsThatWait, EndWithTheDeathOfAPeer) { expect_named("OneDies", {"rank 2 died: SIGKILL"}); }

TEST(AscendKernelsThatWait, EndWhenTheChipOfAPeerFails) {
  expect_named("OneFails",
               {"rank 2 of \"world\" failed and gave up \"room\"", "aclrtLaunchKernelWithHostArgs: 507015"});
}

TEST(AscendKernelsThatWait, EndWhenAPeerGivesUp) {
  expect_named("OneThrows", {"rank 2 of \"world\" failed and gave up \"room\": an exception ended its program"});
}

class AscendCollectives : public testing::TestWithParam<int> {
 protected:
  /// Each chip has ended its runtime, no rule of the stand-in was broken, and nothing was left behind.
  void expect_right(const char* scenario) const {
    const std::string log = testing::TempDir() + fmt::format("standin-{}-{}-{}", ::getpid(), scenario, GetParam());
    ::setenv("STANDIN_LOG", log.c_str(), 1);
    EXPECT_TRUE(run_scenario(scenario_named(scenario), Hosting::processes, GetParam()));
    ::unsetenv("STANDIN_LOG");
    std::ifstream lines(log);
    int ended = 0;
    for (std::string line; std::getline(lines, line); ++ended) EXPECT_EQ(line, "ended");
    EXPECT_EQ(ended, GetParam());
    std::filesystem::remove(log);
  }
};
INSTANTIATE_TEST_SUITE_P(, AscendCollectives, testing::Range(1, 9),
                         [](const auto& tested) { return std::to_string(tested.param) + "Chips"; });

TEST_P(AscendCollectives, OfEveryAlgorithmInKernelsAreRight) { expect_right("EveryAlgorithm"); }

TEST_P(AscendCollectives, FollowEachOtherInOneRoom) { expect_right("RandomCalls"); }

TEST_P(AscendCollectives, InGraphsAreRight) { expect_right("InGraphs"); }

}  // namespace
}  // namespace baton::test
