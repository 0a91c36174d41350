// Chips of a node that touch the same memory of it, ordered by each mechanism or not.
#include <gtest/gtest.h>

#include <functional>
#include <latch>

#include <baton/worker.hpp>

#include "access_kernels.hpp"
#include "support/recorded.hpp"

namespace baton::test {
namespace {

struct NodeOrder {
  const char* name;
  bool orders;
  std::function<void(Worker&, const Tensor& x, Instruction first, Instruction second)> run;
};

TaskArgs touches(const Tensor& x, Instruction instruction, TensorArgType type) {
  return TaskArgs().add_tensor(x, type).add_scalar(static_cast<std::int32_t>(instruction));
}

void submit(Orchestration& o, int chip, const Tensor& x, Instruction instruction, TensorArgType type) {
  o.submit_next_level(touch_tensor, touches(x, instruction, type), chip);
}

const NodeOrder kNodeOrders[] = {
    {"nothing", false,
     [](Worker& node, const Tensor& x, Instruction first, Instruction second) {
       node.run([&](Orchestration& o) {
         submit(o, 0, x, first, TensorArgType::no_dep);
         submit(o, 1, x, second, TensorArgType::no_dep);
       });
     }},
    {"an argument of both", true,
     [](Worker& node, const Tensor& x, Instruction first, Instruction second) {
       node.run([&](Orchestration& o) {
         submit(o, 0, x, first, TensorArgType::inout);
         submit(o, 1, x, second, TensorArgType::inout);
       });
     }},
    {"two runs", true,
     [](Worker& node, const Tensor& x, Instruction first, Instruction second) {
       node.run([&](Orchestration& o) { submit(o, 0, x, first, TensorArgType::no_dep); });
       node.run([&](Orchestration& o) { submit(o, 1, x, second, TensorArgType::no_dep); });
     }},
    {"one chip", true,
     [](Worker& node, const Tensor& x, Instruction first, Instruction second) {
       node.run([&](Orchestration& o) {
         submit(o, 1, x, first, TensorArgType::no_dep);
         submit(o, 1, x, second, TensorArgType::no_dep);
       });
     }},
    {"a wait of the orchestration", true,
     [](Worker& node, const Tensor& x, Instruction first, Instruction second) {
       node.run([&](Orchestration& o) {
         o.wait(o.submit_next_level(touch_tensor, touches(x, first, TensorArgType::no_dep), 0));
         submit(o, 1, x, second, TensorArgType::no_dep);
       });
     }},
    {"members of one group", false,
     [](Worker& node, const Tensor& x, Instruction first, Instruction second) {
       node.run([&](Orchestration& o) {
         o.submit_next_level_group(
             touch_tensor,
             std::vector{touches(x, first, TensorArgType::inout), touches(x, second, TensorArgType::inout)},
             std::vector{0, 1});
       });
     }},
};

WorkerOptions two_chips(Isolation isolation) {
  WorkerOptions options;
  options.devices = {0, 1};
  options.isolation = isolation;
  options.clusters = 1;
  options.output_heap_bytes = 1 << 20;
  return options;
}

Recorded run_node(Isolation isolation, const std::function<void(Worker&)>& body) {
  return record([&] {
    Worker node(two_chips(isolation));
    body(node);
  });
}

class Nodes : public testing::TestWithParam<Isolation> {};

TEST_P(Nodes, AreJudgedRightly) {
  for (const NodeOrder& order : kNodeOrders) {
    for (const Instruction second : {Instruction::load, Instruction::store}) {
      const Recorded recorded = run_node(GetParam(), [&](Worker& node) {
        const Tensor x = node.create_buffer(DType::float32, {kNumbers}, "x");
        order.run(node, x, Instruction::store, second);
      });
      EXPECT_EQ(recorded.failure, "");
      EXPECT_EQ(recorded.findings.races.empty(), order.orders) << order.name << '\n' << recorded.text();
      EXPECT_EQ(recorded.findings.accesses, 2U) << order.name;
      if (order.orders) continue;
      EXPECT_NE(recorded.text().find("race on bytes 0 to 31 of \"x\" of the node"), std::string::npos)
          << recorded.text();
      EXPECT_NE(recorded.text().find("between their tasks is missing an edge"), std::string::npos) << recorded.text();
    }
  }
}

/// What was done before nobody is told of, nor does it count.
TEST_P(Nodes, ThatRunAlreadyAreJudgedRightly) {
  Worker node(two_chips(GetParam()));
  const Tensor x = node.create_buffer(DType::float32, {kNumbers}, "x");
  for (const NodeOrder& order : kNodeOrders) {
    kNodeOrders[0].run(node, x, Instruction::store, Instruction::store);
    const Recorded recorded = record([&] { order.run(node, x, Instruction::store, Instruction::load); });
    EXPECT_EQ(recorded.failure, "");
    EXPECT_EQ(recorded.findings.races.empty(), order.orders) << order.name << '\n' << recorded.text();
    EXPECT_EQ(recorded.findings.accesses, 2U) << order.name;
  }
}

/// Members that share an argument hide each other from those who come later, which wait for all of them.
TEST_P(Nodes, TasksBehindAGroupAreBehindAllOfItsMembers) {
  const Recorded recorded = run_node(GetParam(), [&](Worker& node) {
    const Tensor x = node.create_buffer(DType::float32, {2, kNumbers}, "x");
    const auto member = [&](int row) {
      return TaskArgs()
          .add_tensor(x.index(row), TensorArgType::no_dep)
          .add_scalar(static_cast<std::int32_t>(Instruction::store))
          .add_tensor(x, TensorArgType::inout);
    };
    node.run([&](Orchestration& o) {
      o.submit_next_level_group(touch_tensor_of, std::vector{member(0), member(1)}, std::vector{0, 1});
      submit(o, 0, x.index(1), Instruction::load, TensorArgType::inout);
      submit(o, 1, x.index(0), Instruction::load, TensorArgType::inout);
    });
  });
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(recorded.text(), "");
  EXPECT_EQ(recorded.findings.accesses, 4U);
}

/// A run that ends beside another one leaves alone what is known of the other's groups.
TEST_P(Nodes, GroupsAreKnownUntilTheirOwnRunEnds) {
  const Recorded recorded = run_node(GetParam(), [&](Worker& node) {
    const Tensor x = node.create_buffer(DType::float32, {2, kNumbers}, "x");
    const auto member = [&](int row) {
      return TaskArgs()
          .add_tensor(x.index(row), TensorArgType::no_dep)
          .add_scalar(static_cast<std::int32_t>(Instruction::store))
          .add_tensor(x, TensorArgType::inout);
    };
    std::latch group_is_made(1);
    std::latch other_has_ended(1);
    RunHandle run = node.submit([&](Orchestration& o) {
      o.submit_next_level_group(touch_tensor_of, std::vector{member(0), member(1)}, std::vector{0, 1});
      group_is_made.count_down();
      other_has_ended.wait();
      submit(o, 0, x.index(1), Instruction::load, TensorArgType::inout);
      submit(o, 1, x.index(0), Instruction::load, TensorArgType::inout);
    });
    group_is_made.wait();
    node.run([](Orchestration&) {});
    other_has_ended.count_down();
    run.result();
  });
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(recorded.text(), "");
  EXPECT_EQ(recorded.findings.accesses, 4U);
}

TEST_P(Nodes, CopiesOfTheHostAreBehindTheTasksThatTheyWaitFor) {
  const Recorded recorded = run_node(GetParam(), [&](Worker& node) {
    const Tensor x = node.create_buffer(DType::float32, {kNumbers}, "x");
    std::vector<float> values(kNumbers, 1.0F);
    node.run([&](Orchestration& o) {
      submit(o, 0, x, Instruction::store, TensorArgType::inout);
      o.copy_from(std::span(values), x);
    });
    node.copy_to(x, values.data(), values.size() * sizeof(float));
    node.run([&](Orchestration& o) { submit(o, 1, x, Instruction::load, TensorArgType::input); });
  });
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(recorded.text(), "");
  EXPECT_EQ(recorded.findings.accesses, 4U);
}

#if defined(BATON_SANITIZE_THREAD)  // which reports the races itself where it sees them: in one process
INSTANTIATE_TEST_SUITE_P(Chips, Nodes, testing::Values(Isolation::processes));
#else
INSTANTIATE_TEST_SUITE_P(Chips, Nodes, testing::Values(Isolation::inproc, Isolation::processes));
#endif

}  // namespace
}  // namespace baton::test
