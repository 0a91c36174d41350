// Tasks that complete later than their kernels return.
#include <optional>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/inproc.hpp>

#include "kernels.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "tensors.hpp"

namespace baton::test {
namespace {

TEST(Deferred, ConsumersWaitForTheConditionNotForTheKernel) {
  Chip chip({.clusters = 2});
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  const Tensor z = chip.alloc<float>({4});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  chip.copy_in<float>(x, std::vector<float>(4, 3.0F));
  for (int round = 0; round < scaled(100); ++round) {
    chip.copy_in<std::int32_t>(flag, std::vector<std::int32_t>{0});
    chip.run([&](Graph& g) {
      const TaskId producer = g.submit(kTwiceLater, {{Access::in, x}, {Access::out, y}, word_of(flag)});
      const TaskId consumer = g.submit(twice, y, z);
      static_cast<void>(producer);
      g.submit(notify, flag, 1);
      g.wait(consumer);
    });
    std::vector<float> out(4);
    chip.copy_out<float>(z, out);
    ASSERT_THAT(out, testing::Each(12.0F));
  }
}

TEST(Deferred, NotificationWaitsGiveTokens) {
  Chip chip({.clusters = 2});
  const Tensor signal = chip.alloc<std::int32_t>({1});
  const Tensor list = chip.alloc<std::int64_t>({8});
  chip.run([&](Graph& g) {
    const Tensor token = g.submit_notification_wait(word_of(signal), 2);
    g.submit({.tokens = {token}}, append, list, 7);
    g.submit(notify, signal, 1);
    g.submit(notify, signal, 1);
  });
  std::vector<std::int64_t> out(8);
  chip.copy_out<std::int64_t>(list, out);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 7);
  std::int32_t elsewhere = 0;
  require_error(Code::out_of_range, {"outside of any window"},
                [&] { chip.run([&](Graph& g) { static_cast<void>(g.submit_notification_wait(&elsewhere, 1)); }); });
}

// More than any window of tasks: deferred tasks do not count against it.
TEST(Trap9Deferred, ThousandsWaitAtOnceBehindASmallWindow) {
  Chip chip({.clusters = 2, .task_window = 64});
  const int count = scaled(100'000);
  const Tensor signals = chip.alloc<std::int32_t>({count});
  chip.run([&](Graph& g) {
    for (int i = 0; i < count; ++i) static_cast<void>(g.submit_notification_wait(word_of(signals) + i, 1));
    for (int i = 0; i < count; ++i) g.submit(notify, signals.slice(i, i + 1), 1);
  });
}

TEST(Deferred, NotificationsOfOtherRanksComplete) {
  for (const int ranks : {2, 4}) {
    run_ranks(ranks, [&](Domain me) {
      Signals arrived = me.signals("arrived", 1);
      Window<std::int32_t> seen = me.window<std::int32_t>("seen", 1);
      Chip chip(me, {.clusters = 1});
      const int next = (me.rank() + 1) % me.size();
      for (int round = 1; round <= 20; ++round) {
        const Tensor out = chip.alloc<float>({4});
        chip.run([&](Graph& g) {
          const Tensor token =
              g.submit_notification_wait(reinterpret_cast<std::int32_t*>(arrived.part(me.rank())), round);
          g.submit({.tokens = {token}}, add_one, out);
          arrived.notify(next, 0);
        });
        std::vector<float> result(4);
        chip.copy_out<float>(out, result);
        REQUIRE(result[0] == 1.0F);
        chip.free(out);
      }
    });
  }
}

// A death that nobody waited through counts too: the condition is added after it.
TEST(Trap6Deferred, AWaitForARankThatIsGoneFailsAtOnce) {
  std::optional<Code> seen;
  const auto body = [&](Domain me) {
    Signals arrived = me.signals("arrived", 1);
    me.barrier();
    if (me.rank() == 1) throw std::runtime_error("rank 1 gives up");
    Chip chip(me, {.clusters = 1});
    try {
      me.barrier();  // the death is known from here on
    } catch (const Error&) {
    }
    try {
      chip.run([&](Graph& g) {
        static_cast<void>(g.submit_notification_wait(reinterpret_cast<std::int32_t*>(arrived.part(0)), 1));
      });
    } catch (const Error& error) {
      seen = error.code();
    }
  };
  EXPECT_THROW(run_ranks(2, body), std::runtime_error);
  EXPECT_EQ(seen, Code::peer_died);
}

}  // namespace
}  // namespace baton::test
