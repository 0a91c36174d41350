// Ranks that read each other's memory, and those that may not.
#include <gtest/gtest.h>

#include <atomic>

#include <baton/inproc.hpp>

#include "cases.hpp"
#include "collectives/host_mover.hpp"
#include "collectives/selection.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

TEST(Reading, IsTriedByFewRanksAndReplacedAmongMany) {
  for (const int ranks : {3, 65}) {
    std::atomic<int> reading{0};
    std::atomic<std::size_t> wrong{0};
    run_ranks(ranks, [&](Domain me) {
      if (collectives::HostMover(me).memory().is_open()) ++reading;
      for (const auto& info : collectives::all_algorithms()) {
        if (info.needs != collectives::Needs::memory) continue;
        const Case one{.operation = info.operation, .count = 700, .root = 2, .algorithm = info.algorithm};
        const Buffers buffers(me, bytes_of(one, ranks));
        wrong += wrong_elements(me, buffers, one, 0);
      }
    });
    EXPECT_EQ(reading, ranks == 3 ? 3 : 0);
    EXPECT_EQ(wrong, 0U);
  }
}

}  // namespace
}  // namespace baton::test
