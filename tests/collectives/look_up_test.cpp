// Long work looks up between blocks: the death of a member ends it, not its own end.
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <vector>

#include <baton/inproc.hpp>

#include "collectives/host_mover.hpp"
#include "support/require.hpp"

namespace baton::collectives {
namespace {

using test::require_error;

constexpr std::size_t kCount = std::size_t{16} * 1024 * 1024;  // floats: 64 MiB

/// Gives rank 0 a mover whose other member has died.
template <class Body>
void with_a_dead_member(Body&& body) {
  std::exception_ptr failed;
  const auto live = [&](Domain me) {
    HostMover mover(me);
    const RawWindow window = me.raw_window("w", 8);
    if (me.rank() == 1) throw std::out_of_range("dies");
    try {
      require_error(Code::peer_died, {}, [&] { window.wait(0, WaitCmp::ge, 1); });
      body(mover);
    } catch (...) {
      failed = std::current_exception();
    }
  };
  EXPECT_THROW(run_ranks(2, live), std::out_of_range);
  if (failed) std::rethrow_exception(failed);
}

TEST(LookUp, ACopyEndsAfterABlock) {
  with_a_dead_member([](HostMover& mover) {
    const std::vector<float> from(kCount, 1);
    std::vector<float> to(kCount);
    const auto copy = [&](std::size_t count) {
      mover.copy(reinterpret_cast<std::byte*>(to.data()), reinterpret_cast<const std::byte*>(from.data()),
                 count * sizeof(float));
    };
    copy(1000);  // too short to look up
    require_error(Code::peer_died,
                  {"rank 0 was busy when rank 1 of \"world\" died", "it threw std::out_of_range: dies"},
                  [&] { copy(kCount); });
    REQUIRE_EQUAL(to.front(), 1.0F);
    REQUIRE_EQUAL(to.back(), 0.0F);
  });
}

TEST(LookUp, AReductionEndsAfterABlock) {
  with_a_dead_member([](HostMover& mover) {
    const std::vector<float> one(kCount, 1);
    std::vector<float> to(kCount);
    const auto* source = reinterpret_cast<const std::byte*>(one.data());
    const std::vector<const std::byte*> from(3, source);
    const auto reduce = [&](std::size_t count) {
      mover.reduce(reinterpret_cast<std::byte*>(to.data()), from, count, Element::float32, ReduceOp::sum, 1);
    };
    reduce(1000);
    REQUIRE_EQUAL(to[999], 3.0F);
    require_error(Code::peer_died, {"rank 1"}, [&] { reduce(kCount); });
    REQUIRE_EQUAL(to.back(), 0.0F);
  });
}

TEST(LookUp, ReadingMemoryOfAnotherEndsAfterABlock) {
  bool reaches = true;
  with_a_dead_member([&](HostMover& mover) {
    reaches = mover.memory().is_open();
    if (!reaches) return;
    const std::vector<float> from(kCount, 1);
    std::vector<float> to(kCount);
    require_error(Code::peer_died, {"rank 1"}, [&] {
      mover.memory().read(1, reinterpret_cast<const std::byte*>(from.data()), reinterpret_cast<std::byte*>(to.data()),
                          kCount * sizeof(float));
    });
    REQUIRE_EQUAL(to.back(), 0.0F);
  });
  if (!reaches) GTEST_SKIP() << "the system does not let ranks reach the memory of each other";
}

TEST(LookUp, LongReductionsAreWhole) {
  run_ranks(2, [](Domain me) {
    HostMover mover(me);
    std::vector<float> one(kCount);
    for (std::size_t i = 0; i < kCount; ++i) one[i] = static_cast<float>(i % 1000);
    std::vector<float> to(kCount);
    const auto* source = reinterpret_cast<const std::byte*>(one.data());
    const std::vector<const std::byte*> from = {source, source};
    mover.reduce(reinterpret_cast<std::byte*>(to.data()), from, kCount, Element::float32, ReduceOp::sum, 1);
    for (std::size_t i = 0; i < kCount; ++i) REQUIRE_EQUAL(to[i], 2 * one[i]);
    me.barrier();
  });
}

}  // namespace
}  // namespace baton::collectives
