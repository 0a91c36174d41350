// Every pair of an access of a program and one of a kernel to the same bytes of a window, of two ranks and of one,
// ordered by each mechanism or not quite.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include <baton/chip.hpp>
#include <baton/inproc.hpp>

#include "access_kernels.hpp"
#include "support/recorded.hpp"
#include "support/scale.hpp"
#include "uses.hpp"

namespace baton::test {
namespace {

constexpr int kRanks = 3;
constexpr int kOwner = 0;

using Floats = Window<float>;

struct HostAccess {
  const char* name;
  CheckedUse use;
  /// To the first numbers of the owner's part; those behind them in the caller's part are nobody else's.
  std::function<void(const Floats& x, int rank)> make;
};

std::span<float> there(const Floats& x) { return {&x.peer(kOwner)[0], kNumbers}; }

const HostAccess kHostAccesses[] = {
    {"put", CheckedUse::write,
     [](const Floats& x, int /*rank*/) {
       const std::array<float, kNumbers> values{};
       x.put(kOwner, 0, std::span<const float>(values));
     }},
    {"get", CheckedUse::read,
     [](const Floats& x, int /*rank*/) {
       std::array<float, kNumbers> values{};
       x.get(kOwner, 0, std::span(values));
     }},
    {"store", CheckedUse::write,
     [](const Floats& x, int /*rank*/) { x.note_write(there(x).data(), there(x).size_bytes()); }},
    {"load", CheckedUse::read,
     [](const Floats& x, int /*rank*/) { x.note_read(there(x).data(), there(x).size_bytes()); }},
    {"put from there", CheckedUse::read,
     [](const Floats& x, int rank) { x.put(rank, kNumbers, std::span<const float>(there(x))); }},
    {"get to there", CheckedUse::write, [](const Floats& x, int rank) { x.get(rank, kNumbers, there(x)); }},
    {"notify", CheckedUse::atomic, [](const Floats& x, int /*rank*/) { x.notify(kOwner, 0); }},
};

enum class First : std::uint8_t { host, kernel };

/// Which ranks make the two accesses.
struct Placing {
  const char* name;
  int host;
  int kernel;
};
constexpr Placing kPlacings[] = {
    {"the kernel's rank owns the bytes", 1, kOwner},
    {"the program's rank owns the bytes", kOwner, 1},
    {"a third rank owns the bytes", 1, 2},
};

/// One of the two ranks, and what it may do.
struct Side {
  Domain& me;
  const Floats& x;
  const Window<std::int32_t>& words;  // the first one of each rank is for who comes second
  Signals& signals;
  Chip* chip;  // null: this is the side of the program
  std::uint64_t elsewhere;
  const HostAccess& access;
  Instruction instruction;
  First first;
  int other;

  [[nodiscard]] bool is_first() const { return (first == First::kernel) == (chip != nullptr); }
  [[nodiscard]] std::uint64_t word_of(int rank) const { return reinterpret_cast<std::uint64_t>(&words.peer(rank)[0]); }

  void make() const {
    if (chip == nullptr) return access.make(x, me.rank());
    chip->run([&](Graph& graph) { submit(graph); });
  }
  TaskId submit(Graph& graph, const TaskOptions& options = {}, std::uint64_t await = 0,
                std::uint64_t notify = 0) const {
    return graph.submit(options, touch_there, static_cast<std::int32_t>(instruction),
                        reinterpret_cast<std::uint64_t>(there(x).data()), elsewhere, await, notify);
  }
};

struct MixedOrder {
  const char* name;
  First first;
  bool orders;
  /// Called by both sides.
  std::function<void(const Side&)> run;
};

void with_barrier(const Side& side) {
  if (side.is_first()) side.make();
  const std::array<int, 2> both = {std::min(side.me.rank(), side.other), std::max(side.me.rank(), side.other)};
  side.me.subset("both", both).barrier();
  if (!side.is_first()) side.make();
}

void with_signals_of_programs(const Side& side) {
  if (side.is_first()) {
    side.make();
    side.signals.notify(side.other, 0);
  } else {
    side.signals.wait(0, WaitCmp::ge, 1);
    side.make();
  }
}

void with_a_signal_too_early(const Side& side) {
  if (side.is_first()) {
    side.signals.notify(side.other, 0);
  } else {
    side.signals.wait(0, WaitCmp::ge, 1);
  }
  side.make();
}

const MixedOrder kMixedOrders[] = {
    {"nothing", First::host, false, [](const Side& side) { side.make(); }},
    {"nothing", First::kernel, false, [](const Side& side) { side.make(); }},
    {"a barrier", First::host, true, with_barrier},
    {"a barrier", First::kernel, true, with_barrier},
    {"signals of the programs", First::host, true, with_signals_of_programs},
    {"signals of the programs", First::kernel, true, with_signals_of_programs},
    {"a signal that is notified too early", First::host, false, with_a_signal_too_early},
    {"a signal that is notified too early", First::kernel, false, with_a_signal_too_early},
    {"a notify of the program, a wait of the kernel", First::host, true,
     [](const Side& side) {
       if (side.chip != nullptr) {
         side.chip->run([&](Graph& graph) { side.submit(graph, {}, side.word_of(side.me.rank())); });
       } else {
         side.make();
         side.words.notify(side.other, 0);
       }
     }},
    {"a notify of the program before its access, a wait of the kernel", First::host, false,
     [](const Side& side) {
       if (side.chip != nullptr) {
         side.chip->run([&](Graph& graph) { side.submit(graph, {}, side.word_of(side.me.rank())); });
       } else {
         side.words.notify(side.other, 0);
         side.make();
       }
     }},
    {"a notify of the kernel, a wait of the program", First::kernel, true,
     [](const Side& side) {
       if (side.chip != nullptr) {
         side.chip->run([&](Graph& graph) { side.submit(graph, {}, 0, side.word_of(side.other)); });
       } else {
         side.words.wait(0, WaitCmp::ge, 1);
         side.make();
       }
     }},
    {"a notify of another kernel, a wait of the program", First::kernel, false,
     [](const Side& side) {
       if (side.chip != nullptr) {
         side.chip->run([&](Graph& graph) {
           side.submit(graph);
           const std::uint64_t own = side.elsewhere + kNumbers * sizeof(float);
           graph.submit(touch_there, static_cast<std::int32_t>(Instruction::load), own, own, std::uint64_t{0},
                        side.word_of(side.other));
         });
       } else {
         side.words.wait(0, WaitCmp::ge, 1);
         side.make();
       }
     }},
    {"a token of a wait for a notification", First::host, true,
     [](const Side& side) {
       if (side.chip != nullptr) {
         side.chip->run([&](Graph& graph) {
           const Tensor token = graph.submit_notification_wait(&side.words[0], 1);
           side.submit(graph, {.tokens = {token}});
         });
       } else {
         side.make();
         side.words.notify(side.other, 0);
       }
     }},
    {"a wait for a notification without its token", First::host, false,
     [](const Side& side) {
       if (side.chip != nullptr) {
         side.chip->run([&](Graph& graph) {
           static_cast<void>(graph.submit_notification_wait(&side.words[0], 1));
           side.submit(graph);
         });
       } else {
         side.make();
         side.words.notify(side.other, 0);
       }
     }},
};

Recorded run_mixed(const MixedOrder& order, const Placing& placing, const HostAccess& access, Instruction instruction) {
  return record([&] {
    run_ranks(kRanks,
              [&](Domain me) {
                const auto x = me.window<float>("x", 2 * kNumbers);
                const auto words = me.window<std::int32_t>("words", 16);
                auto signals = me.signals("signals", 1);
                Side side{me, x, words, signals, nullptr, 0, access, instruction, order.first, placing.kernel};
                if (me.rank() == placing.host) {
                  order.run(side);
                } else if (me.rank() == placing.kernel) {
                  Chip chip(me, {.clusters = 1});
                  side.chip = &chip;
                  side.elsewhere = chip.alloc<float>({2 * kNumbers}, "elsewhere").address();
                  side.other = placing.host;
                  order.run(side);
                }
                me.barrier();  // windows end together
              },
              {.threads = 1});
  });
}

/// All pairs, or some of them.
void for_each_pair(const std::function<void(int number, const HostAccess&, Instruction)>& judge) {
  constexpr int kPairs = static_cast<int>(std::size(kHostAccesses)) * kInstructions;
  const int count = std::min(kPairs, scaled(kPairs / 3));
  for (int i = 0; i < count; ++i) {
    // 5 and the number of pairs have no factor in common: each is chosen once.
    const int pair = i * 5 % kPairs;
    judge(i, kHostAccesses[pair / kInstructions], static_cast<Instruction>(pair % kInstructions));
  }
}

class Mixed : public testing::TestWithParam<std::size_t> {};

TEST_P(Mixed, AreJudgedRightly) {
  const MixedOrder& order = kMixedOrders[GetParam()];
  for_each_pair([&](int number, const HostAccess& access, Instruction instruction) {
    const Placing& placing = kPlacings[static_cast<std::size_t>(number) % std::size(kPlacings)];
    const Recorded recorded = run_mixed(order, placing, access, instruction);
    EXPECT_EQ(recorded.failure, "");
    EXPECT_EQ(!recorded.findings.races.empty(), conflict(access.use, use_of(instruction)) && !order.orders)
        << access.name << " and instruction " << static_cast<int>(instruction) << ", with " << order.name << ", "
        << (order.first == First::host ? "the program" : "the kernel") << " first, " << placing.name << '\n'
        << recorded.text();
    EXPECT_GE(recorded.findings.events, 2U);
  });
}

INSTANTIATE_TEST_SUITE_P(Orders, Mixed, testing::Range<std::size_t>(0, std::size(kMixedOrders)));

/// A program and its own kernel.
struct OneRank {
  Chip& chip;
  std::function<void()> touch_at_host;
  std::function<TaskId(Graph&)> submit;
};

struct OwnOrder {
  const char* name;
  bool orders;
  std::function<void(const OneRank&)> run;
};

const OwnOrder kOwnOrders[] = {
    {"nothing", false,
     [](const OneRank& one) {
       one.chip.run([&](Graph& graph) {
         one.submit(graph);
         one.touch_at_host();
       });
     }},
    {"the submission", true,
     [](const OneRank& one) {
       one.chip.run([&](Graph& graph) {
         one.touch_at_host();
         one.submit(graph);
       });
     }},
    {"a wait of the orchestration", true,
     [](const OneRank& one) {
       one.chip.run([&](Graph& graph) {
         graph.wait(one.submit(graph));
         one.touch_at_host();
       });
     }},
    {"a wait for another task", false,
     [](const OneRank& one) {
       one.chip.run([&](Graph& graph) {
         one.submit(graph);
         graph.wait(graph.submit_empty({}));
         one.touch_at_host();
       });
     }},
    {"the end of the run", true,
     [](const OneRank& one) {
       one.chip.run([&](Graph& graph) { one.submit(graph); });
       one.touch_at_host();
     }},
};

class Own : public testing::TestWithParam<std::size_t> {};

TEST_P(Own, AreJudgedRightly) {
  const OwnOrder& order = kOwnOrders[GetParam()];
  for_each_pair([&](int /*number*/, const HostAccess& access, Instruction instruction) {
    const Recorded recorded = record([&] {
      run_ranks(1, [&](Domain me) {
        const auto x = me.window<float>("x", 2 * kNumbers);
        Chip chip(me, {.clusters = 1});
        const Tensor elsewhere = chip.alloc<float>({2 * kNumbers}, "elsewhere");
        order.run({chip, [&] { access.make(x, me.rank()); },
                   [&](Graph& graph) {
                     return graph.submit(touch_there, static_cast<std::int32_t>(instruction),
                                         reinterpret_cast<std::uint64_t>(there(x).data()), elsewhere.address(),
                                         std::uint64_t{0}, std::uint64_t{0});
                   }});
      });
    });
    EXPECT_EQ(recorded.failure, "");
    EXPECT_EQ(!recorded.findings.races.empty(), conflict(access.use, use_of(instruction)) && !order.orders)
        << access.name << " and instruction " << static_cast<int>(instruction) << ", with " << order.name << '\n'
        << recorded.text();
    EXPECT_GE(recorded.findings.events, 2U);
  });
}

INSTANTIATE_TEST_SUITE_P(Orders, Own, testing::Range<std::size_t>(0, std::size(kOwnOrders)));

}  // namespace
}  // namespace baton::test
