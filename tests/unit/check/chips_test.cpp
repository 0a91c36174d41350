// Every pair of accesses of kernels of two chips to the same bytes, ordered by each mechanism or not quite.
#include <gtest/gtest.h>

#include <functional>

#include <baton/chip.hpp>
#include <baton/inproc.hpp>

#include "instruction_pairs.hpp"

namespace baton::test {
namespace {

/// Two chips, each a rank: one after the other touches the window of rank 0.
struct TwoChips {
  Domain& me;
  Chip& chip;
  const Window<float>& x;
  const Window<std::int32_t>& words;
  Signals& signals;
  std::uint64_t elsewhere;
  int first;
  [[nodiscard]] int second() const { return 1 - first; }
  [[nodiscard]] bool is_first() const { return me.rank() == first; }
  [[nodiscard]] std::uint64_t word() const { return reinterpret_cast<std::uint64_t>(&words.peer(second())[0]); }

  void touch(Instruction instruction, std::uint64_t await = 0, std::uint64_t notify = 0) const {
    chip.run([&](Graph& graph) { submit(graph, instruction, {}, await, notify); });
  }
  void submit(Graph& graph, Instruction instruction, const TaskOptions& options, std::uint64_t await = 0,
              std::uint64_t notify = 0) const {
    graph.submit(options, touch_there, static_cast<std::int32_t>(instruction),
                 reinterpret_cast<std::uint64_t>(&x.peer(0)[0]), elsewhere, await, notify);
  }
};

struct ChipOrder {
  const char* name;
  bool orders;
  std::function<void(const TwoChips&, Instruction first, Instruction second)> run;
};

const ChipOrder kChipOrders[] = {
    {"nothing", false,
     [](const TwoChips& c, Instruction first, Instruction second) { c.touch(c.is_first() ? first : second); }},
    {"a barrier", true,
     [](const TwoChips& c, Instruction first, Instruction second) {
       if (c.is_first()) c.touch(first);
       c.me.barrier();
       if (!c.is_first()) c.touch(second);
     }},
    {"notify and wait in the kernels", true,
     [](const TwoChips& c, Instruction first, Instruction second) {
       c.is_first() ? c.touch(first, 0, c.word()) : c.touch(second, c.word(), 0);
     }},
    {"a notify of another task", false,
     [](const TwoChips& c, Instruction first, Instruction second) {
       if (!c.is_first()) return c.touch(second, c.word(), 0);
       c.chip.run([&](Graph& graph) {
         c.submit(graph, first, {});
         const std::uint64_t own = c.elsewhere + kNumbers * sizeof(float);
         graph.submit(touch_there, static_cast<std::int32_t>(Instruction::load), own, own, std::uint64_t{0}, c.word());
       });
     }},
    {"a token of a wait for a notification", true,
     [](const TwoChips& c, Instruction first, Instruction second) {
       if (c.is_first()) return c.touch(first, 0, c.word());
       c.chip.run([&](Graph& graph) {
         const Tensor token = graph.submit_notification_wait(&c.words[0], 1);
         c.submit(graph, second, {.tokens = {token}});
       });
     }},
    {"signals of the programs", true,
     [](const TwoChips& c, Instruction first, Instruction second) {
       if (c.is_first()) {
         c.touch(first);
         c.signals.notify(c.second(), 0);
       } else {
         c.signals.wait(0, WaitCmp::ge, 1);
         c.touch(second);
       }
     }},
    {"a signal that was notified before the run", false,
     [](const TwoChips& c, Instruction first, Instruction second) {
       if (c.is_first()) {
         c.signals.notify(c.second(), 0);
         c.touch(first);
       } else {
         c.signals.wait(0, WaitCmp::ge, 1);
         c.touch(second);
       }
     }},
};

Recorded run_two(int first, const std::function<void(const TwoChips&)>& body) {
  return record([&] {
    run_ranks(2,
              [&](Domain me) {
                const auto x = me.window<float>("x", 2 * kNumbers);
                const auto words = me.window<std::int32_t>("words", 16);
                auto signals = me.signals("signals", 2);
                Chip chip(me, {.clusters = 1});
                const Tensor elsewhere = chip.alloc<float>({2 * kNumbers}, "elsewhere");
                body({me, chip, x, words, signals, elsewhere.address(), first});
                me.barrier();  // windows end together
              },
              {.threads = 1});
  });
}

class Chips : public testing::TestWithParam<std::size_t> {};

TEST_P(Chips, AreJudgedRightly) {
  const ChipOrder& order = kChipOrders[GetParam()];
  for (int first_rank = 0; first_rank < 2; ++first_rank) {
    for_each_pair([&](Instruction first, Instruction second) {
      const Recorded recorded = run_two(first_rank, [&](const TwoChips& chips) { order.run(chips, first, second); });
      expect(recorded, conflict(use_of(first), use_of(second)) && !order.orders, first, second, order.name);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Chips, testing::Range<std::size_t>(0, std::size(kChipOrders)));

TEST(AsynchronousCopy, ThatItsSignalAnnouncesIsBeforeTheWaiter) {
  const auto run = [](bool waits_for_signal) {
    return run_two(1, [&](const TwoChips& c) {
      if (!c.is_first()) return c.touch(Instruction::load, waits_for_signal ? c.word() : 0, 0);
      c.chip.run([&](Graph& graph) {
        graph.submit(put_and_return, reinterpret_cast<std::uint64_t>(&c.x.peer(0)[0]), c.elsewhere, c.word());
      });
    });
  };
  EXPECT_EQ(run(true).text(), "");
  const std::string racy = run(false).text();
  EXPECT_NE(racy.find("rank 1 writes: TPUT_ASYNC at "), std::string::npos) << racy;
  EXPECT_NE(racy.find("in kernel 'put_and_return'"), std::string::npos) << racy;
  EXPECT_NE(racy.find("rank 0 reads: TLOAD at "), std::string::npos) << racy;
}

}  // namespace
}  // namespace baton::test
