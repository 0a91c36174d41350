// Every pair of accesses of kernels to the same bytes, on one chip and on two, ordered by each mechanism or not quite.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/inproc.hpp>
#include <baton/options.hpp>

#include "access_kernels.hpp"
#include "support/recorded.hpp"
#include "support/scale.hpp"
#include "uses.hpp"

namespace baton::test {
namespace {

/// All pairs of instructions, or some of them.
void for_each_pair(const std::function<void(Instruction, Instruction)>& judge) {
  constexpr int kPairs = kInstructions * kInstructions;
  const int count = std::min(kPairs, scaled(kPairs / 3));
  for (int i = 0; i < count; ++i) {
    // 5 and the number of pairs have no factor in common: each is chosen once.
    const int pair = i * 5 % kPairs;
    judge(static_cast<Instruction>(pair / kInstructions), static_cast<Instruction>(pair % kInstructions));
  }
}

void expect(const Recorded& recorded, bool race, Instruction first, Instruction second, const char* mechanism) {
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(!recorded.findings.races.empty(), race) << "instruction " << static_cast<int>(first) << ", then "
                                                    << static_cast<int>(second) << ", with " << mechanism << '\n'
                                                    << recorded.text();
  EXPECT_GE(recorded.findings.accesses, 2U);
}

/// Two tasks of one chip.
struct OneChip {
  Chip chip{ChipOptions{.clusters = 1}};
  Tensor there = chip.alloc<float>({2 * kNumbers}, "there");
  Tensor elsewhere = chip.alloc<float>({2 * kNumbers}, "elsewhere");
  Tensor named = chip.alloc<std::int32_t>({1}, "named");
  Tensor other = chip.alloc<std::int32_t>({1}, "other");
  std::optional<Tensor> signal;  // zero at the begin of each case

  void begin() {
    if (signal) chip.free(*signal);
    signal = chip.alloc<std::int32_t>({1}, "signal");
  }
  [[nodiscard]] std::uint64_t scratch(int task) const {
    return elsewhere.address() + static_cast<std::uint64_t>(task * kNumbers) * sizeof(float);
  }
  TaskId touch(Graph& graph, Instruction instruction, int task, const TaskOptions& options = {}, bool waits = false,
               bool notifies = false) {
    return graph.submit(options, touch_there, static_cast<std::int32_t>(instruction), there.address(), scratch(task),
                        waits ? signal->address() : 0, notifies ? signal->address() : 0);
  }
  TaskId touch(Graph& graph, Instruction instruction, int task, const Tensor& name) {
    return graph.submit(touch_and_name, name, static_cast<std::int32_t>(instruction), there.address(), scratch(task));
  }
};

struct TaskOrder {
  const char* name;
  bool orders;
  std::function<void(OneChip&, Instruction first, Instruction second)> run;
};

const TaskOrder kTaskOrders[] = {
    {"nothing", false,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         c.touch(graph, first, 0);
         c.touch(graph, second, 1);
       });
     }},
    {"an argument of both", true,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         c.touch(graph, first, 0, c.named);
         c.touch(graph, second, 1, c.named);
       });
     }},
    {"different arguments", false,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         c.touch(graph, first, 0, c.named);
         c.touch(graph, second, 1, c.other);
       });
     }},
    {"an argument of both where edges are named", false,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run(
           [&](Graph& graph) {
             c.touch(graph, first, 0, c.named);
             c.touch(graph, second, 1, c.named);
           },
           {.edges = Edges::named});
     }},
    {"an edge", true,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         const TaskId before = c.touch(graph, first, 0);
         c.touch(graph, second, 1, {.after = {before}});
       });
     }},
    {"edges through an empty task", true,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         const TaskId before = c.touch(graph, first, 0);
         const TaskId between = graph.submit_empty({}, {.after = {before}});
         c.touch(graph, second, 1, {.after = {between}});
       });
     }},
    {"an edge to a third task", false,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         c.touch(graph, first, 0);
         const TaskId between = graph.submit_empty({});
         c.touch(graph, second, 1, {.after = {between}});
       });
     }},
    {"a wait of the orchestration", true,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         graph.wait(c.touch(graph, first, 0));
         c.touch(graph, second, 1);
       });
     }},
    {"two runs", true,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) { c.touch(graph, first, 0); });
       c.chip.run([&](Graph& graph) { c.touch(graph, second, 1); });
     }},
    {"notify and wait in the kernels", true,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         c.touch(graph, first, 0, TaskOptions{}, false, true);
         c.touch(graph, second, 1, TaskOptions{}, true, false);
       });
     }},
    {"a token of a wait for a notification", true,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         c.touch(graph, first, 0, TaskOptions{}, false, true);
         const Tensor token =
             graph.submit_notification_wait(reinterpret_cast<const std::int32_t*>(c.signal->address()), 1);
         c.touch(graph, second, 1, {.tokens = {token}});
       });
     }},
    {"a wait for a notification without its token", false,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         c.touch(graph, first, 0, TaskOptions{}, false, true);
         static_cast<void>(
             graph.submit_notification_wait(reinterpret_cast<const std::int32_t*>(c.signal->address()), 1));
         c.touch(graph, second, 1);
       });
     }},
    {"a deferred task", true,
     [](OneChip& c, Instruction first, Instruction second) {
       c.chip.run([&](Graph& graph) {
         const TaskId later = graph.submit(complete_later, c.signal->address());
         c.touch(graph, first, 0, TaskOptions{}, false, true);
         c.touch(graph, second, 1, {.after = {later}});
       });
     }},
    {"an edge of a captured graph", true,
     [](OneChip& c, Instruction first, Instruction second) {
       CapturedGraph graph = c.chip.capture([&](Graph& tasks) {
         const TaskId before = c.touch(tasks, first, 0);
         c.touch(tasks, second, 1, {.after = {before}});
       });
       for (int run = 0; run < 2; ++run) c.chip.run(graph);
     }},
    {"nothing, in a captured graph", false,
     [](OneChip& c, Instruction first, Instruction second) {
       CapturedGraph graph = c.chip.capture([&](Graph& tasks) {
         c.touch(tasks, first, 0);
         c.touch(tasks, second, 1);
       });
       c.chip.run(graph);
     }},
};

class Tasks : public testing::TestWithParam<std::size_t> {};

TEST_P(Tasks, AreJudgedRightly) {
  const TaskOrder& order = kTaskOrders[GetParam()];
  OneChip chip;
  for_each_pair([&](Instruction first, Instruction second) {
    const Recorded recorded = record([&] {
      chip.begin();
      order.run(chip, first, second);
    });
    expect(recorded, conflict(use_of(first), use_of(second)) && !order.orders, first, second, order.name);
  });
}

INSTANTIATE_TEST_SUITE_P(Orders, Tasks, testing::Range<std::size_t>(0, std::size(kTaskOrders)));

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

TEST(AsynchronousCopy, ThatItsSignalAnnouncesIsBeforeWhoWaitsForIt) {
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

TEST(AsynchronousCopy, IsOverWhenItsDeferredTaskIsComplete) {
  const auto run = [](bool with_edge) {
    OneChip c;
    c.begin();
    return record([&] {
      c.chip.run([&](Graph& graph) {
        const TaskId put = graph.submit(put_and_return, c.there.address(), c.scratch(0), c.signal->address());
        c.touch(graph, Instruction::load, 1, with_edge ? TaskOptions{.after = {put}} : TaskOptions{});
      });
    });
  };
  EXPECT_EQ(run(true).text(), "");
  EXPECT_NE(run(false).text(), "");
}

TEST(Rows, ConflictWhereTheyShareBytes) {
  const auto run = [](std::int64_t first_column, std::int32_t columns) {
    OneChip c;
    const Tensor matrix = c.chip.alloc<float>({8, kNumbers}, "matrix");
    return record([&] {
      c.chip.run([&](Graph& graph) {
        graph.submit(store_rows, matrix.address(), std::int32_t{8}, std::int32_t{4});
        graph.submit(load_rows, matrix.address() + static_cast<std::uint64_t>(first_column) * sizeof(float),
                     std::int32_t{7}, columns);
      });
    });
  };
  EXPECT_EQ(run(4, 4).text(), "");
  const std::string racy = run(3, 4).text();
  EXPECT_NE(racy.find("race on bytes 12 to 15 of \"matrix\" on rank 0's chip"), std::string::npos) << racy;
  EXPECT_NE(racy.find("between their tasks is missing an edge"), std::string::npos) << racy;
}

TEST(Outputs, AreFreshWhenTheirMemoryIsUsedAgain) {
  Chip chip({.clusters = 1, .output_heap_bytes = 4096});
  const Tensor elsewhere = chip.alloc<float>({2 * kNumbers}, "elsewhere");
  const Recorded recorded = record([&] {
    chip.run([&](Graph& graph) {
      for (int i = 0; i < 64; ++i) {
        const auto scope = graph.scope();
        const Tensor made = graph.output(DType::int32, {256});
        graph.submit(touch_and_name, made, static_cast<std::int32_t>(Instruction::store), made.address(),
                     elsewhere.address());
      }
    });
  });
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(recorded.text(), "");
  EXPECT_GE(recorded.findings.accesses, 64U);
}

/// What kernels that store past the end of a tensor are told.
TEST(Guards, FindWhatLiesPastATensor) {
  if (!options().check) GTEST_SKIP() << "BATON_CHECK is off";
  Chip chip({.clusters = 1});
  const Tensor y = chip.alloc<float>({4000}, "y");
  const auto store = [&](std::int64_t index) -> std::string {
    try {
      chip.run([&](Graph& graph) { graph.submit(store_at, y, index); });
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(store(0), "");
  EXPECT_EQ(store(3999), "");
  for (const std::int64_t index : {std::int64_t{4000}, std::int64_t{5000}}) {
    const std::string text = store(index);
    EXPECT_NE(text.find("kernel 'store_at' on vector core"), std::string::npos) << text;
    EXPECT_NE(text.find("access_kernels.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("byte " + std::to_string(4 * index) + " of \"y\", which has 16000 bytes"), std::string::npos)
        << text;
  }
  EXPECT_NE(store(-20'000), "");
  chip.free(y);
}

TEST(ManyTasks, GoOnWithTheNumbersOfThoseBeforeThem) {
  OneChip c;
  constexpr int kRuns = 20;
  constexpr int kTasks = 200;
  const Recorded recorded = record([&] {
    for (int run = 0; run < kRuns; ++run) {
      c.chip.run([&](Graph& graph) {
        for (int i = 0; i < kTasks; ++i) c.touch(graph, Instruction::add, 0, c.named);
      });
    }
  });
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(recorded.text(), "");
  EXPECT_EQ(recorded.findings.accesses, static_cast<std::uint64_t>(kRuns * kTasks));
}

}  // namespace
}  // namespace baton::test
