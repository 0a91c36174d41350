// Every pair of accesses of tasks of one chip to the same bytes, ordered by each mechanism or not quite.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/options.hpp>

#include "instruction_pairs.hpp"

namespace baton::test {
namespace {

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

/// What kernels that store outside of a tensor are told, under a schedule.
class Guards : public testing::Test {
 protected:
  /// Stores to `index` of "y", which has `count` floats. Returns the error.
  static std::string store(std::optional<std::uint64_t> seed, std::int64_t count, std::int64_t index) {
    Chip chip({.clusters = 1, .seed = seed});
    const Tensor y = chip.alloc<float>({count}, "y");
    try {
      chip.run([&](Graph& graph) { graph.submit(store_at, y, index); });
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static void expect_error(std::optional<std::uint64_t> seed, std::int64_t count, std::int64_t index) {
    const std::string text = store(seed, count, index);
    const std::string where = fmt::format("byte {} of \"y\", which has {} bytes", 4 * index, 4 * count);
    for (const std::string& part :
         {std::string("kernel 'store_at' on vector core"), std::string("access_kernels.cpp:"), where}) {
      EXPECT_NE(text.find(part), std::string::npos) << index << ": " << text;
    }
  }
  void SetUp() override {
    if (!options().check) GTEST_SKIP() << "BATON_CHECK is off";
  }
};

TEST_F(Guards, FindWhatLiesPastATensor) {
  for (const std::int64_t index : {0, 3999}) EXPECT_EQ(store({}, 4000, index), "");
  for (const std::int64_t index : {4000, 5000}) expect_error({}, 4000, index);
  EXPECT_NE(store({}, 4000, -20'000), "");
}

TEST_F(Guards, FindWhatLiesInFrontOfATensorUnderEverySecondSchedule) {
  constexpr std::uint64_t kOdd = 1;
  for (const std::int64_t index : {0, 3999}) EXPECT_EQ(store(kOdd, 4000, index), "");
  for (const std::int64_t index : {-1, -1000}) expect_error(kOdd, 4000, index);
  EXPECT_NE(store(kOdd, 4000, 20'000), "");
}

TEST_F(Guards, AreCloseOnBothSidesOfWholePages) {
  const auto floats = static_cast<std::int64_t>(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / sizeof(float));
  for (const std::uint64_t seed : {0, 1}) {
    EXPECT_EQ(store(seed, floats, 0), "");
    expect_error(seed, floats, -1);
    expect_error(seed, floats, floats);
  }
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
