// Collectives of real processes: right, and ended by the death of a rank in the middle of any of them.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "cases.hpp"
#include "collectives/host_mover.hpp"
#include "collectives/selection.hpp"
#include "ending.hpp"
#include "job.hpp"
#include "scenarios.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scenario_run.hpp"

namespace {

using namespace baton;
using namespace baton::test;
using baton::test::Case;
using collectives::Operation;
using namespace std::chrono_literals;

/// Some systems do not let processes of one user read each other's memory.
void require_reachable_memory(const Domain& me) {
  if (!collectives::HostMover(me).memory().is_open())
    skip_scenario("the system does not let ranks reach the memory of each other");
}

}  // namespace

SCENARIO(EveryAlgorithm, {.sizes = {2, 3, 5}, .hostings = {Hosting::processes}}) {
  const Buffers buffers(me, bytes_of(cases_of(Operation::all_to_all, Algorithm::automatic)[2], me.size()));
  for (const auto& info : collectives::all_algorithms()) {
    for (const Case& one : cases_of(info.operation, info.algorithm)) {
      for (int round = 0; round < 2; ++round) REQUIRE_EQUAL(wrong_elements(me, buffers, one, round), 0U);
    }
  }
}

SCENARIO(DataThatIsNotThere, {.sizes = {2}, .hostings = {Hosting::processes}}) {
  require_reachable_memory(me);
  constexpr std::size_t kCount = 100'000;
  std::vector<float> own(kCount);
  Data x(own);
  if (me.rank() == 1) {
    void* nothing = ::mmap(nullptr, kCount * sizeof(float), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(nothing != MAP_FAILED);
    x = Data(nothing, kCount, Element::float32);
  }
  const auto call = [&] { broadcast(me, x, 1, {.algorithm = Algorithm::read}); };
  if (me.rank() == 1) {
    require_error(Code::peer_left, {"broadcast"}, call);
  } else {
    require_error(Code::invalid_argument, {"the data of rank 1 is not all in its memory"}, call);
  }
}

/// One rank dies while the others move much data.
SCENARIO_BEFORE_JOIN(LargeCollectiveUntilDeath, (Wishes{.sizes = {16}, .hostings = {Hosting::processes}})) {
  Domain world = join_and_tell(me);
  constexpr std::size_t kCount = std::size_t{64} * 1024 * 1024 / sizeof(float);
  const auto x = world.window<float>("x", kCount);
  std::ranges::fill(x, 1.0F);
  allreduce(world, x);
  const auto operation = std::string_view(std::getenv("TEST_OPERATION"));
  std::thread killer;
  if (world.rank() == 5) {
    killer = std::thread([] {
      std::this_thread::sleep_for(50ms);
      tell("dying");
      ::kill(::getpid(), SIGKILL);
    });
  }
  // The window outlives the call: the system takes tens of milliseconds to take back a gigabyte.
  survives_with_error([&] {
    while (true) operation == "broadcast" ? broadcast(world, x, 5) : allreduce(world, x);
  });
}

SCENARIO_BEFORE_JOIN(LateInACallThatADeathEnds, (Wishes{.sizes = {3}, .hostings = {Hosting::processes}})) {
  Domain world = join_and_tell(me);
  const Case one{.operation = Operation::scatter, .count = 100'000, .algorithm = Algorithm::read};
  const Buffers buffers(world, bytes_of(one, world.size()));
  const RawWindow flags = world.raw_window("flags", sizeof(int));
  enum Stage : int { kBegun, kGivenUp, kRead };
  const std::atomic_ref stage(*reinterpret_cast<int*>(flags.part(2)));
  // Not a wait of Baton, which would tell of the death.
  const auto await = [&](Stage awaited) {
    while (stage.load() < awaited) std::this_thread::yield();
  };
  barrier(world);
  if (world.rank() == 1) {
    tell("dying");
    ::kill(::getpid(), SIGKILL);
  }
  if (world.rank() == 2) await(kGivenUp);
  survives_with_error([&] { static_cast<void>(wrong_elements(world, buffers, one, 0)); });
  if (world.rank() == 0) {
    std::ranges::fill(std::span(buffers.input(one, 300'000).address(), buffers.bytes()), std::byte{0xee});
    stage.store(kGivenUp);
    await(kRead);
  }
  stage.store(kRead);
}

SCENARIO(AWriterThatIsStopped, {.sizes = {2}, .hostings = {Hosting::processes}}) {
  require_reachable_memory(me);
  constexpr std::size_t kCount = 16 * 1024 * 1024;
  const RawWindow shared = me.raw_window("shared", 2 * sizeof(int));
  int* words = reinterpret_cast<int*>(shared.part(0));
  const std::atomic_ref writer(words[0]);
  const std::atomic_ref writer_is_done(words[1]);
  std::vector<std::uint8_t> x(kCount, 1);
  std::vector<std::uint8_t> all(2 * kCount);
  if (me.rank() == 1) writer.store(::getpid());
  me.barrier();
  const auto gather_until_error = [&](std::chrono::nanoseconds timeout) {
    while (true) gather(me, x, all, 0, {.algorithm = Algorithm::write, .timeout = timeout});
  };
  if (me.rank() == 1) {
    require_error(Code::wait_timeout, {"rank 0 has given this call up"}, [&] { gather_until_error(30s); });
    writer_is_done.store(1);
    return;
  }
  // Most often in the middle of writing. It goes on when this rank has given up, or waits for it to leave.
  std::thread stopper([&] {
    std::this_thread::sleep_for(50ms);
    ::kill(writer.load(), SIGSTOP);
    std::this_thread::sleep_for(400ms);
    ::kill(writer.load(), SIGCONT);
  });
  require_error(Code::wait_timeout, {}, [&] { gather_until_error(100ms); });
  std::ranges::fill(all, 2);
  stopper.join();
  while (writer_is_done.load() == 0) std::this_thread::yield();
  REQUIRE(std::ranges::all_of(all, [](std::uint8_t byte) { return byte == 2; }));
}

namespace baton::test {
namespace {

TEST(Processes, GetRightResultsFromEveryAlgorithm) {
  for (const int size : {2, 3, 5})
    EXPECT_TRUE(run_scenario(scenario_named("EveryAlgorithm"), Hosting::processes, size));
}

TEST(Processes, GetRightResultsWhileRootsChange) {
  for (const int size : {2, 3, 5}) EXPECT_TRUE(run_scenario(scenario_named("RootsChange"), Hosting::processes, size));
}

TEST(Processes, AreToldWhoseDataIsNotThere) {
  EXPECT_TRUE(run_scenario(scenario_named("DataThatIsNotThere"), Hosting::processes, 2));
}

TEST(Processes, AreNotWrittenToAfterTheyGaveUp) {
  for (int round = 0; round < 3; ++round)
    EXPECT_TRUE(run_scenario(scenario_named("AWriterThatIsStopped"), Hosting::processes, 2));
}

class Death : public testing::TestWithParam<int> {};

TEST_P(Death, InTheMiddleOfAnOperationIsToldToAll) {
  Job job("CollectivesUntilDeath", 4, {fmt::format("TEST_OPERATION={}", GetParam())});
  job.start();
  job.finish();
  for (const int rank : {0, 1, 3}) job.expect_death_seen(rank, 2);
}

class DeathAmongLargeData : public testing::TestWithParam<const char*> {};

TEST_P(DeathAmongLargeData, IsToldSoon) {
  constexpr int kRanks = 16;
  constexpr int kVictim = 5;
  Job job("LargeCollectiveUntilDeath", kRanks, {fmt::format("TEST_OPERATION={}", GetParam())});
  job.start();
  job.finish();
  std::vector<std::chrono::nanoseconds> delays;
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != kVictim) delays.push_back(job.expect_death_seen(rank, kVictim));
  }
  std::ranges::sort(delays);
  const auto in_ms = [](std::chrono::nanoseconds delay) { return static_cast<double>(delay.count()) * 1e-6; };
  fmt::print(
      "{} of 64 MiB among {} ranks: the system tells after {:.1f} ms; the others know after {:.1f} ms (median), "
      "{:.1f} ms (last)\n",
      GetParam(), kRanks, in_ms(job.time_to_end(kVictim)), in_ms(delays[delays.size() / 2]), in_ms(delays.back()));
}
INSTANTIATE_TEST_SUITE_P(, DeathAmongLargeData, testing::Values("allreduce", "broadcast"),
                         [](const auto& param) { return std::string(param.param); });

TEST(DeathOfOne, IsToldToALateReader) {
  Job job("LateInACallThatADeathEnds", 3);
  job.start();
  job.finish();
  job.expect_death_seen(0, 1);
  job.expect_caught(2, "peer_died", {"rank 1", fmt::format("(pid {})", job.pid(1)), "scatter of 100000 float32"});
}

TEST(DeathOfOne, BecauseCallsDifferIsToldAsThat) {
  Job job("EndsBecauseCallsDiffer", 2);
  job.start();
  job.finish();
  for (const int rank : {0, 1}) {
    job.expect_caught(rank, "mismatch", {"rank 0 called broadcast of 3 float32, root 1", "rank 1 called barrier"});
  }
}

class DeathOfWhoseMemoryIsUsed : public testing::TestWithParam<int> {};

TEST_P(DeathOfWhoseMemoryIsUsed, IsToldToAll) {
  Job job("CollectivesUntilDeath", 4, {fmt::format("TEST_OPERATION={}", GetParam()), "TEST_REACH=1"});
  job.start();
  job.finish();
  for (const int rank : {0, 1, 3}) job.expect_death_seen(rank, 2);
}

TEST(DeathOfOne, WhileOthersHaveStartedIsToldByTheirEvents) {
  const auto operation = static_cast<int>(Operation::allreduce);
  Job job("CollectivesUntilDeath", 4, {fmt::format("TEST_OPERATION={}", operation), "TEST_STARTED=1"});
  job.start();
  job.finish();
  for (const int rank : {0, 1, 3}) job.expect_death_seen(rank, 2);
}

const auto kOperationName = [](const auto& param) {
  return std::string(collectives::name_of(static_cast<Operation>(param.param)));
};
INSTANTIATE_TEST_SUITE_P(, Death, testing::Range(0, collectives::kOperations), kOperationName);
std::vector<int> operations_that_reach() {
  std::vector<int> operations;
  for (int operation = 0; operation < collectives::kOperations; ++operation) {
    if (reaching(static_cast<Operation>(operation)) != Algorithm::automatic) operations.push_back(operation);
  }
  return operations;
}
INSTANTIATE_TEST_SUITE_P(, DeathOfWhoseMemoryIsUsed, testing::ValuesIn(operations_that_reach()), kOperationName);

}  // namespace
}  // namespace baton::test
