#include "scenarios.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "collectives/selection.hpp"
#include "ending.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scenario.hpp"

namespace baton::test {

using collectives::Operation;

std::vector<Case> cases_of(Operation operation, Algorithm algorithm) {
  std::vector<Case> cases;
  for (const Memory memory : {Memory::windows, Memory::own}) {
    for (const std::size_t count : {1U, 900U, 70'000U}) {
      Case one{.operation = operation, .count = count, .root = 1, .memory = memory, .algorithm = algorithm};
      if (operation == Operation::broadcast) one.placing = Placing::in_place;
      cases.push_back(one);
    }
  }
  return cases;
}

Algorithm reaching(Operation operation) {
  for (const auto& info : collectives::all_algorithms()) {
    if (info.operation == operation && info.needs == collectives::Needs::memory) return info.algorithm;
  }
  return Algorithm::automatic;
}

namespace {

const Wishes kProcesses = {.sizes = {4}, .hostings = {Hosting::processes, Hosting::hosts}};

/// The operation that the environment names by its number, over and over, until somebody dies.
void repeat_until_death(Domain me) {
  const auto operation = static_cast<Operation>(std::atoi(std::getenv("TEST_OPERATION")));
  const bool reaches = std::getenv("TEST_REACH") != nullptr;
  const std::vector<Case> cases = cases_of(operation, reaches ? reaching(operation) : Algorithm::automatic);
  const Buffers buffers(me, bytes_of(cases[2], me.size()));
  std::thread killer;
  if (me.rank() == 2) {
    // In the middle of whatever the other thread does then.
    killer = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      tell("dying");
      ::kill(::getpid(), SIGKILL);
    });
  }
  const Maker started = [](const Domain& domain, const Case& one, ConstData in, Data out) {
    start_public(domain, one, in, out).wait();
  };
  const Maker& maker = std::getenv("TEST_STARTED") != nullptr ? started : Maker(call_public);
  for (int round = 0;; ++round) {
    const Case& one = cases[static_cast<std::size_t>(round) % cases.size()];
    REQUIRE_EQUAL(wrong_elements(me, buffers, one, round, maker), 0U);
  }
}

SCENARIO(RootsChange, {.sizes = {2, 3, 5}, .hostings = {Hosting::processes, Hosting::hosts}}) {
  constexpr int kCalls = 15;
  for (const Operation operation : {Operation::broadcast, Operation::scatter, Operation::gather, Operation::reduce}) {
    std::vector<Case> cases = cases_of(operation, Algorithm::automatic);
    const Buffers buffers(me, bytes_of(cases[2], me.size()));
    for (const int stride : {1, me.size() - 1, 0, 2}) {
      for (int call = 0; call < kCalls; ++call) {
        Case& one = cases[static_cast<std::size_t>(call) % cases.size()];
        one.root = call * stride % me.size();
        REQUIRE_EQUAL(wrong_elements(me, buffers, one, call), 0U);
      }
    }
  }
}

/// Who notices first that the calls differ ends at once; the other, which still waits then, is told what differs.
SCENARIO_BEFORE_JOIN(EndsBecauseCallsDiffer, (Wishes{.sizes = {2}, .hostings = {Hosting::processes, Hosting::hosts}})) {
  Domain world = join_and_tell(me);
  std::vector<float> x(3);
  barrier(world);
  if (world.rank() == 1) {
    if (survives_with_error([&] { barrier(world); })) ::_exit(0);
  }
  survives_with_error([&] { broadcast(world, x, 1); });
}

SCENARIO_BEFORE_JOIN(CollectivesUntilDeath, kProcesses) {
  survives_with_error([&] { repeat_until_death(join_and_tell(me)); });
}

}  // namespace
}  // namespace baton::test
