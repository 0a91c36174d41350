// Collectives of the chips of a node.
#include <gtest/gtest.h>

#include <numeric>

#include <baton/node_collectives.hpp>

#include "node/node_fixture.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

class NodeCollectives : public Node {
 protected:
  static constexpr std::int64_t kBlock = 37;

  std::vector<Tensor> tensors(std::int64_t elements) {
    std::vector<Tensor> all;
    for (int chip = 0; chip < chips(); ++chip) {
      all.push_back(worker.create_buffer(DType::float32, {elements}));
      std::iota(floats(all.back()), floats(all.back()) + elements, 100.0F * static_cast<float>(chip));
    }
    return all;
  }
  const float count = static_cast<float>(chips());
};

TEST_P(NodeCollectives, SumInOneLine) {
  const std::vector<Tensor> xs = tensors(1000);
  allreduce(worker, xs);
  allreduce(worker, xs, ReduceOp::max);
  for (const Tensor& x : xs) {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(floats(x)[i], 50.0F * count * (count - 1) + count * static_cast<float>(i));
    }
  }
}

TEST_P(NodeCollectives, FollowEachOtherByTheirTensors) {
  const std::vector<Tensor> xs = tensors(chips() * kBlock);
  const std::vector<Tensor> turned = tensors(chips() * kBlock);
  const std::vector<Tensor> blocks = tensors(kBlock);
  const std::vector<Tensor> all = tensors(chips() * kBlock);
  worker.run([&](Orchestration& orch) {
    all_to_all(orch, xs, turned, all_chips());
    reduce_scatter(orch, turned, blocks, all_chips());
    allgather(orch, blocks, all, all_chips());
    broadcast(orch, all, all_chips(), chips() - 1);
  });
  // Block i of the sum of the turned ones is what chip i had, all blocks of it, added up.
  for (const Tensor& y : all) {
    for (int chip = 0; chip < chips(); ++chip) {
      for (int i = 0; i < kBlock; ++i) {
        const float first = 100.0F * static_cast<float>(chip) + static_cast<float>(i);
        ASSERT_EQ(floats(y)[chip * kBlock + i], count * first + count * (count - 1) / 2 * static_cast<float>(kBlock));
      }
    }
  }
}

TEST_P(NodeCollectives, SayWhatIsWrong) {
  if (chips() != 3) GTEST_SKIP() << "once is enough";
  const std::vector<int> chips = all_chips();
  const std::vector<Tensor> xs = tensors(6);
  const std::vector<Tensor> ys = tensors(5);
  const auto refused = [&](std::string_view part, const OrchestrationFunction& body) {
    require_error(Code::invalid_argument, {part, "node_level_test.cpp"}, [&] { worker.run(body); });
  };
  refused("3 and 3 tensors for 2 chips",
          [&](Orchestration& orch) { allreduce(orch, xs, std::span<const int>(chips).first(2)); });
  refused("`ys` must be contiguous, 18 elements of float32",
          [&](Orchestration& orch) { allgather(orch, xs, ys, chips); });
  refused("there is no operation 77 on elements",
          [&](Orchestration& orch) { allreduce(orch, xs, chips, static_cast<ReduceOp>(77)); });
  std::vector<Tensor> parts;
  for (const Tensor& x : xs) parts.push_back(x.slice(1, 3));
  refused("xs[0] and ys[0] overlap by a part", [&](Orchestration& orch) { reduce_scatter(orch, xs, parts, chips); });
  refused("rank 3 is outside 0..2", [&](Orchestration& orch) { broadcast(orch, xs, chips, 3); });
}

const std::vector<NodeShape> kShapes = {{Isolation::inproc, 3},    {Isolation::processes, 1},
                                        {Isolation::processes, 2}, {Isolation::processes, 3},
                                        {Isolation::processes, 5}, {Isolation::processes, 8}};
INSTANTIATE_TEST_SUITE_P(, NodeCollectives, testing::ValuesIn(possible(kShapes)),
                         [](const auto& shape) { return name_of(shape.param); });

}  // namespace
}  // namespace baton::test
