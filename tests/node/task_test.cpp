// Tasks of a node: kernels and orchestrations on chips, edges between chips, host functions.
#include <atomic>

#include <gmock/gmock.h>

#include "node_fixture.hpp"
#include "node_kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

INSTANTIATE_TEST_SUITE_P(
    , Node,
    testing::ValuesIn(possible({NodeShape{Isolation::processes, 1}, NodeShape{Isolation::processes, 2},
                                NodeShape{Isolation::processes, 4}, NodeShape{Isolation::inproc, 1},
                                NodeShape{Isolation::inproc, 2}, NodeShape{Isolation::inproc, 4}})),
    [](const auto& shape) { return name_of(shape.param); });

TEST_P(Node, RunsAKernelOnEveryChip) {
  const Tensor x = worker.create_buffer(DType::float32, {chips(), 256}, "x");
  const Tensor y = worker.create_buffer(DType::float32, {chips(), 256}, "y");
  for (int i = 0; i < chips() * 256; ++i) floats(x)[i] = static_cast<float>(i);
  worker.run([&](Orchestration& o) {
    for (int chip = 0; chip < chips(); ++chip) {
      TaskArgs args;
      args.add_tensor(x.index(chip), TensorArgType::input).add_tensor(y.index(chip), TensorArgType::output);
      o.submit_next_level(on_chip(node_twice), args, chip);
    }
  });
  for (int i = 0; i < chips() * 256; ++i) ASSERT_EQ(floats(y)[i], 2.0F * static_cast<float>(i)) << i;
}

TEST_P(Node, RunsAnOrchestrationOnAChip) {
  const Tensor x = worker.create_buffer(DType::float32, {16});
  const Tensor y = worker.create_buffer(DType::float32, {16});
  for (int i = 0; i < 16; ++i) floats(x)[i] = static_cast<float>(i);
  worker.run([&](Orchestration& o) {
    TaskArgs args;
    args.add_tensor(x, TensorArgType::input).add_tensor(y, TensorArgType::output).add_scalar(0.5F);
    o.submit_next_level(four_times_plus, args, chips() - 1);
  });
  for (int i = 0; i < 16; ++i) EXPECT_EQ(floats(y)[i], 4.0F * static_cast<float>(i) + 0.5F);
}

/// One value walks over all chips many times; each step needs the one before.
TEST_P(Node, FollowsEdgesFromChipToChip) {
  constexpr int kRounds = 40;
  const Tensor x = worker.create_buffer(DType::float32, {8});
  worker.run([&](Orchestration& o) {
    for (int i = 0; i < kRounds * chips(); ++i) {
      TaskArgs args;
      args.add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
      o.submit_next_level(on_chip(node_add), args, i % chips());
    }
  });
  EXPECT_EQ(floats(x)[0], static_cast<float>(kRounds * chips()));
}

TEST_P(Node, LetsHostFunctionsTakePartInEdges) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  const Tensor y = worker.create_buffer(DType::float32, {4});
  worker.run([&](Orchestration& o) {
    const auto set = [](const ChipArgs& args) {
      for (int i = 0; i < 4; ++i) floats(args.tensor(0))[i] += args.scalar<float>(0);
    };
    for (int round = 0; round < 10; ++round) {
      TaskArgs first;
      first.add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
      o.submit_sub(set, first);
      TaskArgs then;
      then.add_tensor(x, TensorArgType::input).add_tensor(y, TensorArgType::output);
      o.submit_next_level(on_chip(node_twice), then, round % chips());
      TaskArgs last;
      last.add_tensor(y, TensorArgType::inout).add_scalar(0.25F);
      o.submit_sub(set, last);
    }
  });
  EXPECT_EQ(floats(x)[3], 10.0F);
  EXPECT_EQ(floats(y)[3], 20.25F);
}

TEST_P(Node, TakesArgumentListsThatAreLargerThanAMailbox) {
  // 256 KiB of tasks fit at once; one of these has half a MiB.
  const Tensor x = worker.create_buffer(DType::float32, {4});
  worker.run([&](Orchestration& o) {
    for (int round = 0; round < 3; ++round) {
      TaskArgs many;
      for (int i = 0; i < 32 * 1024; ++i) many.add_scalar(i);
      o.submit_next_level(nothing, many, 0);
      TaskArgs args;
      args.add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
      o.submit_next_level(on_chip(node_add), args, 0);
    }
  });
  EXPECT_EQ(floats(x)[0], 3.0F);
}

TEST_P(Node, KeepsThousandsOfTasksInFlight) {
  const Tensor x = worker.create_buffer(DType::float32, {chips(), 16});
  worker.run([&](Orchestration& o) {
    TaskArgs args;
    for (int i = 0; i < 2000 * chips(); ++i) {
      args.clear();
      args.add_tensor(x.index(i % chips()), TensorArgType::inout).add_scalar(1.0F);
      o.submit_next_level(nothing, args, i % chips());
    }
    for (int chip = 0; chip < chips(); ++chip) {
      args.clear();
      args.add_tensor(x.index(chip), TensorArgType::inout).add_scalar(2.0F);
      o.submit_next_level(on_chip(node_add), args, chip);
    }
  });
  EXPECT_EQ(floats(x)[16 * (chips() - 1)], 2.0F);
}

TEST_P(Node, GivesMemoryThatLivesInScopesAndOnChips) {
  const Tensor out = worker.create_buffer(DType::float32, {4});
  const int last = chips() - 1;
  worker.run([&](Orchestration& o) {
    const Tensor kept = o.alloc_on(last, DType::float32, {4}, "kept");
    const std::vector<float> ones(4, 1.0F);
    o.copy_to<float>(kept, ones);
    for (int i = 0; i < 20; ++i) {
      const auto scope = o.scope();
      const Tensor between = o.alloc(DType::float32, {4});
      TaskArgs first;
      first.add_tensor(kept, TensorArgType::input).add_tensor(between, TensorArgType::output);
      o.submit_next_level(on_chip(node_twice), first, last);
      TaskArgs second;
      second.add_tensor(between, TensorArgType::input).add_tensor(out, TensorArgType::output);
      o.submit_next_level(on_chip(node_twice), second, i % chips());
    }
    std::vector<float> seen(4);
    o.copy_from<float>(seen, out);
    EXPECT_THAT(seen, testing::Each(4.0F));
  });
}

TEST_P(Node, SaysWhatIsWrongWithASubmission) {
  const Tensor x = worker.create_buffer(DType::float32, {4}, "x");
  std::vector<float> mine(4);
  worker.run([&](Orchestration& o) {
    TaskArgs args;
    args.add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
    require_error(Code::out_of_range, {"no chip 99"}, [&] { o.submit_next_level(on_chip(node_add), args, 99); });
    TaskArgs foreign;
    foreign.add_tensor(Tensor::over(std::span(mine)), TensorArgType::input);
    require_error(Code::invalid_argument, {"not memory of this node", "create_buffer()"},
                  [&] { o.submit_next_level(nothing, foreign, 0); });
    if (chips() > 1) {
      const Tensor on_1 = o.alloc_on(1, DType::float32, {4}, "on_1");
      TaskArgs wrong;
      wrong.add_tensor(on_1, TensorArgType::input);
      require_error(Code::invalid_argument, {"\"on_1\" is memory of chip 1", "chip 0"},
                    [&] { o.submit_next_level(nothing, wrong, 0); });
    }
  });
  worker.free_buffer(x);
  require_error(Code::released, {"was freed"}, [&] {
    worker.run([&](Orchestration& o) {
      TaskArgs args;
      args.add_tensor(x, TensorArgType::input);
      o.submit_next_level(nothing, args, 0);
    });
  });
  require_error(Code::released, {}, [&] { worker.free_buffer(x); });
}

TEST_P(Node, RunsSeveralOrchestrationsAtOnce) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  std::vector<RunHandle> runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back(worker.submit([&, i](Orchestration& o) {
      for (int k = 0; k < 10; ++k) {
        TaskArgs args;
        args.add_tensor(x, TensorArgType::inout).add_scalar(1.0F);
        o.submit_next_level(on_chip(node_add), args, (i + k) % chips());
      }
    }));
  }
  for (const RunHandle& run : runs) run.result();
  for (const RunHandle& run : runs) EXPECT_TRUE(run.done());
  EXPECT_EQ(floats(x)[0], 60.0F);
  const RunHandle failing = worker.submit([](Orchestration&) { throw std::runtime_error("no more"); });
  failing.wait();
  EXPECT_TRUE(failing.wait_for(std::chrono::seconds(0)));
  EXPECT_THROW(failing.result(), std::runtime_error);
}

}  // namespace
}  // namespace baton::test
