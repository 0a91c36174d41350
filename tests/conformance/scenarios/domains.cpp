// Domains: subsets that overlap, nest, are ordered differently and live side by side.
#include <algorithm>
#include <thread>
#include <vector>

#include "support/reach.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using test::require_error;

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Every member writes its job's rank to every other; then everybody knows everybody.
void exchange(Domain domain, int job_rank) {
  const auto seen = domain.window<int>("seen", static_cast<std::size_t>(domain.size()));
  for (int rank = 0; rank < domain.size(); ++rank)
    test::store_to(seen, rank, static_cast<std::size_t>(domain.rank()), job_rank + 1);
  domain.barrier();
  for (int rank = 0; rank < domain.size(); ++rank) {
    REQUIRE_EQUAL(seen[static_cast<std::size_t>(rank)], domain.members()[static_cast<std::size_t>(rank)] + 1);
  }
  domain.barrier();
}

}  // namespace

SCENARIO(SubsetsHaveTheirOwnRanks, {.sizes = {5}}) {
  const std::vector<int> reversed = {4, 3, 2, 1, 0};
  Domain backwards = me.subset("backwards", reversed);
  REQUIRE_EQUAL(backwards.rank(), 4 - me.rank());
  REQUIRE_EQUAL(backwards.size(), 5);
  REQUIRE(backwards.members() == reversed);
  REQUIRE_EQUAL(backwards.name(), "backwards");
  exchange(backwards, me.rank());
  const std::vector<int> some = {3, 0, 4};
  if (contains(some, me.rank())) {
    Domain part = me.subset("part", some);
    REQUIRE(part.members() == some);
    REQUIRE_EQUAL(part.members()[static_cast<std::size_t>(part.rank())], me.rank());
    exchange(part, me.rank());
    // Ranks of a nested subset are those of its parent; its members are told as ranks of the job.
    const std::vector<int> inner = {2, 0};
    if (part.rank() != 1) {
      Domain nested = part.subset("inner", inner);
      REQUIRE((nested.members() == std::vector<int>{4, 3}));
      exchange(nested, me.rank());
    }
  }
  me.barrier();
}

SCENARIO(OverlappingDomainsLiveSideBySide, {.sizes = {4}}) {
  const std::vector<std::vector<int>> sets = {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 1, 2}, {3, 2, 1, 0}, {1, 3}};
  struct Live {
    Domain domain;
    Signals signals;
  };
  std::vector<Live> live;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (!contains(sets[i], me.rank())) continue;
    // Two of the same name and members are two domains.
    for (int twin = 0; twin < 2; ++twin) {
      Domain domain = me.subset("overlap", sets[i]);
      Signals signals = domain.signals("signals", 1);
      live.push_back({domain, signals});
    }
  }
  const int rounds = test::scaled(100);
  for (int round = 1; round <= rounds; ++round) {
    for (const Live& one : live) one.signals.notify((one.domain.rank() + 1) % one.domain.size(), 0, one.domain.size());
    for (const Live& one : live) one.signals.wait(0, WaitCmp::ge, round * one.domain.size());
  }
  for (Live& one : live) {
    one.domain.barrier();
    REQUIRE(one.signals.test(0, WaitCmp::eq, rounds * one.domain.size()));
  }
  me.barrier();
}

SCENARIO(DomainsAreReleasedWithoutOrder, {.sizes = {4}}) {
  const int rounds = test::scaled(100);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> all = {0, 1, 2, 3};
    Domain first = me.subset("first", all);
    Domain second = me.subset("second", all);
    auto a = second.window<int>("a", 1);
    auto b = first.window<int>("b", 1);
    // Each rank lets go of what it has in its own order, while others still use theirs.
    if ((me.rank() + round) % 2 == 0) {
      a.release();
      first = Domain();
    } else {
      b.release();
      second = Domain();
    }
  }
  me.barrier();
}

SCENARIO(AllocationOrderIsPerDomain, {.sizes = {3}}) {
  // Rank 1 is in both pairs; the others meet it in different orders and numbers.
  const std::vector<int> low = {0, 1};
  const std::vector<int> high = {2, 1};
  std::vector<RawWindow> windows;
  if (me.rank() == 0) {
    Domain domain = me.subset("low", low);
    for (int i = 0; i < 3; ++i) windows.push_back(domain.raw_window("w", 64));
  } else if (me.rank() == 2) {
    Domain domain = me.subset("high", high);
    for (int i = 0; i < 2; ++i) windows.push_back(domain.raw_window("w", 128));
  } else {
    Domain upper = me.subset("high", high);
    windows.push_back(upper.raw_window("w", 128));
    Domain lower = me.subset("low", low);
    windows.push_back(lower.raw_window("w", 64));
    windows.push_back(lower.raw_window("w", 64));
    windows.push_back(upper.raw_window("w", 128));
    windows.push_back(lower.raw_window("w", 64));
  }
  me.barrier();
}

// Threads of one rank may allocate in different domains at the same time, in any order.
SCENARIO(ThreadsOfARankUseDifferentDomains,
         {.sizes = {3}, .hostings = {test::Hosting::threads, test::Hosting::processes}}) {
  const std::vector<int> all = {0, 1, 2};
  Domain domains[2] = {me.subset("one", all), me.subset("two", all)};
  const int rounds = test::scaled(200);
  std::exception_ptr failures[2];
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      // Which of the two begins differs from rank to rank.
      const int which = (i + me.rank()) % 2;
      threads.emplace_back([&, which] {
        try {
          for (int round = 1; round <= rounds; ++round) {
            const Signals signals = domains[which].signals("s", 1);
            signals.notify((domains[which].rank() + 1) % 3, 0);
            signals.wait(0, WaitCmp::eq, 1);
            domains[which].barrier();
          }
        } catch (...) {
          failures[which] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  me.barrier();
}

SCENARIO(OneRankIsADomainToo, {.sizes = {1}}) {
  REQUIRE_EQUAL(me.rank(), 0);
  REQUIRE_EQUAL(me.size(), 1);
  exchange(me, 0);
  const int self[1] = {0};
  exchange(me.subset("self", self), 0);
  const Signals signals = me.signals("s", 1);
  signals.notify(0, 0, 5);
  signals.wait(0, WaitCmp::eq, 5);
}

SCENARIO(SubsetArgumentsAreChecked, {}) {
  const auto subset_of = [&](std::vector<int> ranks) {
    return [&me, ranks] { static_cast<void>(me.subset("odd", ranks)); };
  };
  require_error(Code::out_of_range, {"\"odd\"", "rank 4", "0..3"}, subset_of({0, 1, 2, 3, 4}));
  require_error(Code::out_of_range, {"rank -1"}, subset_of({-1, 0, 1, 2, 3}));
  require_error(Code::invalid_argument, {"\"odd\"", "rank 2 is named twice"}, subset_of({0, 1, 2, 3, 2}));
  require_error(Code::not_a_member, {"\"odd\"", "calling rank " + std::to_string(me.rank()), "its 1 members"},
                subset_of({(me.rank() + 1) % 4}));
  require_error(Code::not_a_member, {"its 0 members"}, subset_of({}));
  // None of these calls is collective: what follows is not disturbed.
  me.barrier();
  exchange(me, me.rank());
}
