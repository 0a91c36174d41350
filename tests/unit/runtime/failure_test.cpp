// A task that fails: what its dependents do, what run() says, and that the chip lives on.
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/inproc.hpp>

#include "kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

float first_of(Chip& chip, const Tensor& tensor) {
  std::vector<float> out(static_cast<std::size_t>(tensor.element_count()));
  chip.copy_out<float>(tensor, out);
  return out[0];
}

TEST(Failure, IsRaisedOnceWithItsRootAndWhatDidNotRun) {
  Chip chip({.clusters = 2});
  const Tensor x = chip.alloc<float>({4}, "x");
  const Tensor y = chip.alloc<float>({4}, "y");
  const Tensor apart = chip.alloc<float>({4}, "apart");
  require_error(Code::invalid_argument,
                {"kernel 'refuse'", "refused on purpose", "submitted at", "failure_test.cpp", "2 tasks did not run",
                 "twice (task", "add_one (task"},
                [&] {
                  chip.run([&](Graph& g) {
                    g.submit(refuse, x);
                    g.submit(twice, x, y);
                    g.submit(add_one, y);
                    g.submit(add_one, apart);
                  });
                });
  EXPECT_EQ(first_of(chip, y), 0.0F) << "ran although what it reads was never made";
  EXPECT_EQ(first_of(chip, apart), 1.0F) << "did not run although it depends on nothing that failed";

  chip.run([&](Graph& g) { g.submit(add_one, y); });
  EXPECT_EQ(first_of(chip, y), 1.0F);
}

TEST(Failure, ReachesTasksThatAreSubmittedLongAfterIt) {
  Chip chip({.clusters = 2, .task_window = 4});
  const Tensor x = chip.alloc<float>({4});
  const Tensor other = chip.alloc<float>({4});
  require_error(Code::invalid_argument, {"refused on purpose", "1 task did not run"}, [&] {
    chip.run([&](Graph& g) {
      g.submit(refuse, x);
      for (int i = 0; i < 500; ++i) g.submit(add_one, other);
      g.submit(add_one, x);
    });
  });
  EXPECT_EQ(first_of(chip, x), 0.0F);
  EXPECT_EQ(first_of(chip, other), 500.0F);
}

TEST(Failure, OfATaskEndsWaitsForNotificationsThatMayNeverCome) {
  Chip chip({.clusters = 1});
  const Tensor x = chip.alloc<float>({4});
  const Tensor signal = chip.alloc<std::int32_t>({1});
  require_error(Code::invalid_argument, {"refused on purpose", "1 wait for a notification ended early"}, [&] {
    chip.run([&](Graph& g) {
      static_cast<void>(g.submit_notification_wait(reinterpret_cast<const std::int32_t*>(signal.address()), 1));
      g.submit(refuse, x);
    });
  });
}

TEST(Failure, OfAWaitForATaskEndsTheOrchestration) {
  Chip chip({.clusters = 1});
  const Tensor x = chip.alloc<float>({4});
  bool after = false;
  require_error(Code::invalid_argument, {"refused on purpose"}, [&] {
    chip.run([&](Graph& g) {
      g.wait(g.submit(refuse, x));
      after = true;
    });
  });
  EXPECT_FALSE(after);
}

TEST(Failure, OfTwoRanksAtOnceIsEachOnesOwnAndBothGoOn) {
  run_ranks(2, [](Domain me) {
    Signals arrived = me.signals("arrived", 1);
    Chip chip(me, {.clusters = 1});
    auto* mine = reinterpret_cast<std::int32_t*>(arrived.part(me.rank()));
    const Tensor x = chip.alloc<float>({4});
    const Tensor y = chip.alloc<float>({4});
    for (int round = 1; round <= 10; ++round) {
      me.barrier();
      // Neither is ever notified, and both fail meanwhile.
      require_error(Code::invalid_argument, {"refused on purpose"}, [&] {
        chip.run([&](Graph& g) {
          const Tensor token = g.submit_notification_wait(mine, round);
          g.submit({.tokens = {token}}, add_one, x);
          g.submit(refuse, y);
        });
      });
      me.barrier();
      chip.run([&](Graph& g) {
        const Tensor token = g.submit_notification_wait(mine, round);
        g.submit({.tokens = {token}}, add_one, x);
        arrived.notify(1 - me.rank(), 0);
      });
      REQUIRE(first_of(chip, x) == static_cast<float>(round));
    }
  });
}

TEST(Failure, OfTheOrchestrationItselfWaitsForWhatWasSubmitted) {
  Chip chip({.clusters = 1});
  const Tensor x = chip.alloc<float>({4});
  try {
    chip.run([&](Graph& g) {
      g.submit(add_one, x);
      throw std::logic_error("the orchestration gives up");
    });
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "the orchestration gives up");
  }
  EXPECT_EQ(first_of(chip, x), 1.0F);
}

TEST(Failure, OfTheOrchestrationEndsWaitsForNotificationsThatNobodyWillSend) {
  Chip chip({.clusters = 1});
  const Tensor signal = chip.alloc<std::int32_t>({1});
  const Tensor y = chip.alloc<float>({1});
  EXPECT_THROW(chip.run([&](Graph& g) {
    const Tensor token = g.submit_notification_wait(reinterpret_cast<const std::int32_t*>(signal.address()), 1);
    g.submit({.tokens = {token}}, add_one, y);
    throw std::logic_error("before the notification");
  }),
               std::logic_error);
  EXPECT_EQ(first_of(chip, y), 0.0F);
  chip.run([&](Graph& g) { g.submit(add_one, y); });
  EXPECT_EQ(first_of(chip, y), 1.0F);
}

#if !defined(BATON_SANITIZE_ADDRESS) && !defined(BATON_SANITIZE_THREAD)
TEST(Failure, OfAKernelThatCrashesNamesItAndTheProcessLives) {
  Chip chip({.clusters = 1});
  const Tensor x = chip.alloc<float>({4});
  require_error(Code::kernel_fault, {"kernel 'crash'", "submitted at"},
                [&] { chip.run([&](Graph& g) { g.submit(crash, x); }); });
  chip.run([&](Graph& g) { g.submit(add_one, x); });
  EXPECT_EQ(first_of(chip, x), 1.0F);
}
#endif

}  // namespace
}  // namespace baton::test
