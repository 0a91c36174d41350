// Collectives of ranks on two, three and four hosts: the cases of one host, what crosses between hosts, and what ends
// them.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <numeric>
#include <span>
#include <string>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/window.hpp>

#include "bodies.hpp"
#include "ending.hpp"
#include "job.hpp"
#include "matrix.hpp"
#include "random_calls.hpp"
#include "scenarios.hpp"
#include "support/hosts_lab.hpp"
#include "support/hub.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scenario_run.hpp"

namespace baton::test {
namespace {

using collectives::Operation;
using namespace std::chrono_literals;

const Wishes kOnHosts = {.sizes = {2, 5, 8}, .hostings = {Hosting::hosts}};
const Wishes kOnThree = {.sizes = {2, 5}, .hostings = {Hosting::hosts}};
const Wishes kFive = {.sizes = {5}, .hostings = {Hosting::hosts}};

constexpr Operation kOfVectors[] = {Operation::broadcast, Operation::reduce, Operation::allreduce};
constexpr Operation kOfBlocks[] = {Operation::allgather, Operation::gather, Operation::scatter,
                                   Operation::reduce_scatter};

void require_right(Domain& me, const std::vector<Case>& cases) {
  std::size_t bytes = 64;
  for (const Case& one : cases) bytes = std::max(bytes, bytes_of(one, me.size()));
  const Buffers buffers(me, bytes);
  int round = 0;
  for (const Case& one : cases) {
    const std::size_t wrong = wrong_elements(me, buffers, one, ++round);
    if (wrong != 0) throw CheckFailed(fmt::format("{} wrong: {}", wrong, describe(one)));
  }
}

SCENARIO(EveryElementOnHosts, kOnHosts) {
  for (const Operation operation : kOfVectors) require_right(me, cases_of_elements(operation, me.size()));
  for (const Operation operation : kOfBlocks) require_right(me, cases_of_elements(operation, me.size()));
  require_right(me, cases_of_elements(Operation::all_to_all, me.size()));
}

SCENARIO(OneOnEachHost, (Wishes{.sizes = {8}, .hostings = {Hosting::hosts}})) {
  // The first of each host.
  std::vector<int> first;
  for (int rank = 0; rank < me.size(); ++rank) {
    const std::vector<int> hosts = me.hosts();
    if (std::ranges::find(hosts, hosts[static_cast<std::size_t>(rank)]) - hosts.begin() == rank) first.push_back(rank);
  }
  if (std::ranges::count(first, me.rank()) != 0) {
    Domain each = me.subset("one on each", first);
    REQUIRE_EQUAL(each.size(), 4);
    for (const Operation operation : kOfVectors) {
      require_right(each, cases_of_elements(operation, each.size()));
      require_right(each, cases_around_borders(operation, Algorithm::automatic, each.size()));
    }
    for (const Operation operation : kOfBlocks) require_right(each, cases_of_elements(operation, each.size()));
    require_right(each, cases_of_elements(Operation::all_to_all, each.size()));
    exchange_blocks_of_all_sizes(each, Memory::own);
    // So long that what comes could overtake what is sent from where it belongs.
    constexpr std::size_t kLong = 1'000'000;
    for (const Operation operation : {Operation::all_to_all, Operation::allgather, Operation::allreduce}) {
      const std::vector<Case> in_place{{.operation = operation, .count = kLong, .placing = Placing::in_place}};
      for (int round = 0; round < 3; ++round) require_right(each, in_place);
    }
  }
  me.barrier();
}

void require_right_places(Domain& me, std::span<const Operation> operations) {
  for (const Operation operation : operations)
    require_right(me, cases_around_borders(operation, Algorithm::automatic, me.size()));
}

SCENARIO(PlacesOfVectorsOnHosts, kOnThree) { require_right_places(me, kOfVectors); }
SCENARIO(PlacesOfBlocksOnHosts, kOnThree) { require_right_places(me, kOfBlocks); }
SCENARIO(PlacesOfPairsOnHosts, kOnThree) {
  require_right_places(me, std::array{Operation::all_to_all, Operation::all_to_all_v});
}

/// The members of each host are neighbours.
Domain in_order_of_hosts(Domain& me, const std::string& name) {
  std::vector<int> ranks(static_cast<std::size_t>(me.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::vector<int> hosts = me.hosts();
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return hosts[static_cast<std::size_t>(rank)]; });
  return me.subset(name, ranks);
}

SCENARIO(LargeBlocksOnHosts, kFive) {
  Domain sorted = in_order_of_hosts(me, "in order");
  // Larger than a message, and not a multiple of one.
  constexpr std::size_t kLong = 110'001;
  std::vector<Case> cases;
  for (const Memory memory : {Memory::own, Memory::windows, Memory::input_in_window, Memory::output_in_window}) {
    for (const Placing placing : {Placing::out_of_place, Placing::in_place}) {
      if (placing == Placing::in_place && memory != Memory::own && memory != Memory::windows) continue;
      cases.push_back({.operation = Operation::all_to_all, .count = kLong, .memory = memory, .placing = placing});
    }
  }
  // With small ones between them, which take another way.
  cases.push_back({.operation = Operation::all_to_all, .count = 3});
  cases.push_back({.operation = Operation::all_to_all, .element = Element::uint8, .count = 65'537});
  cases.push_back({.operation = Operation::allreduce, .count = kLong});
  require_right(sorted, cases);
}

SCENARIO(BlocksAndMessagesOnHosts, kOnHosts) {
  // The ring of messages has to have an even number of ranks, or they all wait.
  if (me.size() % 2 == 0) pass_messages_round(me);
  exchange_blocks_of_all_sizes(me, Memory::own);
  exchange_blocks_of_all_sizes(me, Memory::output_in_window);
  for (const std::size_t count : {0U, 1U, 1'000U, 100'000U}) REQUIRE_EQUAL(wrong_blocks(me, count, Way::usual), 0);
}

SCENARIO(RandomCallsOnHosts, kOnHosts) { random_calls(me, static_cast<std::uint64_t>(me.size()), 60); }

SCENARIO(BarrierOnHosts, kOnHosts) {
  // What each wrote before a barrier is there after it.
  const auto counts = me.window<std::int32_t>("counts", static_cast<std::size_t>(me.size()));
  for (std::int32_t round = 1; round <= 50; ++round) {
    for (int peer = 0; peer < me.size(); ++peer) counts.put(peer, static_cast<std::size_t>(me.rank()), round);
    me.barrier();
    for (const std::int32_t count : counts) REQUIRE_EQUAL(count, round);
    barrier(me);
  }
}

/// How many bytes leave this host while `body` runs on all ranks.
template <class Body>
std::uint64_t bytes_sent_in(Domain& me, const Body& body) {
  me.barrier();
  const std::uint64_t before = bytes_sent_by_host();
  me.barrier();
  body();
  me.barrier();
  const std::uint64_t after = bytes_sent_by_host();
  me.barrier();
  return after - before;
}

/// What crosses is what must, and a twentieth for the envelopes.
SCENARIO(BytesBetweenHosts, kFive) {
  constexpr std::size_t kBytes = std::size_t{4} * 1024 * 1024;
  const std::vector<int>& hosts = me.hosts();
  const auto own = static_cast<std::size_t>(std::ranges::count(hosts, hosts[static_cast<std::size_t>(me.rank())]));
  const auto ranks = static_cast<std::size_t>(me.size());
  const std::size_t host_count = 3;
  std::vector<float> x(kBytes / sizeof(float), 1);
  std::vector<float> all(x.size() * ranks);
  const Data block(x.data(), x.size() / ranks, Element::float32);
  const auto require_at_most = [&](std::uint64_t sent, double must) {
    if (static_cast<double>(sent) <= 1.05 * must + 64e3) return;
    throw CheckFailed(fmt::format("{} bytes crossed where {} must", sent, must));
  };
  // Connections are made by then.
  allreduce(me, x);
  require_at_most(bytes_sent_in(me, [&] { allreduce(me, x); }),
                  static_cast<double>(2 * kBytes * (host_count - 1)) / static_cast<double>(host_count));
  require_at_most(bytes_sent_in(me, [&] { broadcast(me, x, 1); }), static_cast<double>(kBytes));
  require_at_most(bytes_sent_in(me, [&] { allgather(me, x, all); }),
                  static_cast<double>((host_count - 1) * own * kBytes));
  require_at_most(bytes_sent_in(me, [&] { reduce_scatter(me, all, x); }), static_cast<double>((ranks - own) * kBytes));
  require_at_most(bytes_sent_in(me, [&] { all_to_all(me, all, all); }),
                  static_cast<double>(own * (ranks - own) * kBytes));
  require_at_most(bytes_sent_in(me, [&] { gather(me, block, Data(all).slice(0, block.count() * ranks), 3); }),
                  static_cast<double>(own * block.count() * sizeof(float)));
}

/// `body` ends with a mismatch that shows `parts`, and nobody leaves before all have seen it.
template <class Body>
void require_mismatch(Domain& me, std::initializer_list<std::string_view> parts, const Body& body) {
  require_error(Code::mismatch, parts, body);
  me.barrier();
}

SCENARIO(CallsThatDifferOnHosts, kFive) {
  // One that is alone on its host, and one that is not.
  for (const int other : {3, 2}) {
    std::vector<int> everybody = {0, 1, 2, 3, 4};
    Domain again = me.subset("again", everybody);
    std::vector<float> x(me.rank() == other ? 5 : 4);
    require_mismatch(again, {"allreduce of 4 float32, sum", fmt::format("rank {} called allreduce of 5", other)},
                     [&] { allreduce(again, x); });
    require_error(Code::mismatch, {"an earlier collective on \"again\" failed"}, [&] { barrier(again); });
    Domain roots = me.subset("roots", everybody);
    require_mismatch(roots, {"disagree about collective call 1", fmt::format("root {}", other), "root 0"}, [&] {
      broadcast(roots, std::span(x).first(4), me.rank() == other ? other : 0);
      barrier(roots);
      barrier(roots);
    });
    Domain order = me.subset("order", everybody);
    require_mismatch(order, {fmt::format("rank {} called barrier", other), "called allreduce of 4"}, [&] {
      if (me.rank() == other) barrier(order);
      allreduce(order, std::span(x).first(4));
      barrier(order);
    });
  }
  // The member of a host, and one of another.
  for (const int other : {1, 4}) {
    Domain large = in_order_of_hosts(me, fmt::format("large {}", other));
    std::vector<float> blocks(5 * 30'001);
    const bool differs = large.rank() == other;
    require_mismatch(large, {"called all_to_all of 30000 float32", fmt::format("rank {} called", other)}, [&] {
      const auto called = std::span(blocks).first(differs ? 5 * 30'001 : 5 * 30'000);
      all_to_all(large, called, called);
      barrier(large);
    });
  }
  const std::vector<std::size_t> sends(5, 1);
  std::vector<std::size_t> receives(5, 1);
  if (me.rank() == 3) receives[0] = 2;
  const std::vector<int> in(5);
  std::vector<int> out(me.rank() == 3 ? 6 : 5);
  require_mismatch(me, {"rank 0 sends 1 int32 to rank 3, which expects 2"},
                   [&] { all_to_all_v(me, in, sends, out, receives); });
  Domain mail = me.subset("mail", std::vector<int>{0, 1, 2, 3, 4});
  barrier(mail);
  if (me.rank() == 0) send(mail, 3, std::vector<float>(5));
  if (me.rank() == 3) {
    std::vector<float> four(4);
    require_error(Code::mismatch, {"rank 0 sent 5 float32 to rank 3, which receives 4 float32"},
                  [&] { recv(mail, 0, four); });
  }
  me.barrier();
}

SCENARIO(DroppedPutsOnHosts, (Wishes{.sizes = {2}, .hostings = {Hosting::hosts}})) {
  // More than goes at once, and the word that tells of it behind it.
  constexpr std::size_t kBytes = std::size_t{512} * 1024;
  const RawWindow window = me.raw_window("room", kBytes + sizeof(std::uint64_t));
  const std::vector<std::byte> data(kBytes, std::byte{7});
  constexpr std::uint64_t kPuts = 20;
  const int peer = 1 - me.rank();
  me.barrier();  // before they know each other nothing is sent
  for (std::uint64_t put = 1; put <= kPuts; ++put) {
    window.start_put_advance(peer, 0, data.data(), kBytes, kBytes, put).reset();
  }
  REQUIRE(window.is_told_within(peer, kBytes, kPuts, 60s));
  REQUIRE_EQUAL(std::count(window.local(), window.local() + kBytes, std::byte{7}), static_cast<std::ptrdiff_t>(kBytes));
  me.barrier();
}

SCENARIO(NobodyComesOnHosts, (Wishes{.sizes = {2}, .hostings = {Hosting::hosts}})) {
  std::vector<float> x(10);
  barrier(me);
  if (me.rank() == 0) {
    require_error(Code::wait_timeout, {"allreduce of 10 float32, sum on \"world\"", "rank 0 waited 0.15 s for rank 1"},
                  [&] { allreduce(me, x, ReduceOp::sum, {.timeout = 150ms}); });
  }
  me.barrier();
}

SCENARIO(OneLeavesOnHosts, kFive) {
  barrier(me);
  if (me.rank() == 3) return;
  std::vector<float> x(10);
  require_error(Code::peer_left, {"allreduce of 10 float32", "rank 3"}, [&] { allreduce(me, x); });
}

SCENARIO(OneIsDoneOnHosts, kFive) {
  const std::vector<int> x(1, me.rank());
  std::vector<int> all(5);
  gather(me, x, all, 4);
  if (me.rank() == 4) REQUIRE_EQUAL(all[3], 3);
}

class OnHosts : public testing::TestWithParam<const char*> {};

TEST_P(OnHosts, IsRight) {
  const Scenario& scenario = scenario_named(GetParam());
  for (const int size : scenario.wishes.sizes) EXPECT_TRUE(run_scenario(scenario, Hosting::hosts, size)) << size;
}
INSTANTIATE_TEST_SUITE_P(, OnHosts,
                         testing::Values("EveryElementOnHosts", "OneOnEachHost", "PlacesOfVectorsOnHosts",
                                         "PlacesOfBlocksOnHosts", "PlacesOfPairsOnHosts", "BlocksAndMessagesOnHosts",
                                         "RandomCallsOnHosts", "BarrierOnHosts", "RootsChange", "BytesBetweenHosts",
                                         "LargeBlocksOnHosts", "DroppedPutsOnHosts", "CallsThatDifferOnHosts",
                                         "NobodyComesOnHosts", "OneLeavesOnHosts", "OneIsDoneOnHosts"),
                         [](const auto& param) { return std::string(param.param); });

class DeathOnHosts : public testing::TestWithParam<int> {};

TEST_P(DeathOnHosts, InTheMiddleOfAnOperationIsToldToAll) {
  const HostsLab& lab = HostsLab::of_this_program();
  if (!lab.missing().empty()) GTEST_SKIP() << lab.missing();
  const Hub hub;
  // The victim is on a host with another, and alone on one.
  for (const std::vector<std::uint32_t>& host_of : {spread_over_hosts(4), std::vector<std::uint32_t>{0, 0, 1, 2}}) {
    Job job("CollectivesUntilDeath", 4, {fmt::format("TEST_OPERATION={}", GetParam())});
    job.start_on_hosts(hub.path(), host_of);
    job.finish();
    ASSERT_EQ(WTERMSIG(job.status(2)), SIGKILL);
    job.expect_death_seen_on_hosts(host_of, 2);
  }
}
INSTANTIATE_TEST_SUITE_P(, DeathOnHosts, testing::Range(0, collectives::kOperations), [](const auto& param) {
  return std::string(collectives::name_of(static_cast<Operation>(param.param)));
});

TEST(DifferentCallsOnHosts, EndTheirRanksWithBothSides) {
  const HostsLab& lab = HostsLab::of_this_program();
  if (!lab.missing().empty()) GTEST_SKIP() << lab.missing();
  const Hub hub;
  Job job("EndsBecauseCallsDiffer", 2);
  job.start_on_hosts(hub.path(), {0, 1});
  job.finish();
  for (const int rank : {0, 1}) {
    job.expect_caught(rank, "mismatch", {"rank 0 called broadcast of 3 float32, root 1", "rank 1 called barrier"});
  }
}

}  // namespace
}  // namespace baton::test
