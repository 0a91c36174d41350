// Collectives of the chips of a node.
#include <gtest/gtest.h>

#include <numeric>

#include <baton/node_collectives.hpp>

#include "support/require.hpp"

namespace baton::test {
namespace {

class NodeCollectives : public testing::TestWithParam<Isolation> {
 protected:
  static constexpr std::int64_t kBlock = 37;

  static WorkerOptions options() {
    WorkerOptions made;
    made.devices = {0, 1, 2};
    made.isolation = GetParam();
    made.clusters = 1;
    return made;
  }
  std::vector<Tensor> tensors(std::int64_t elements) {
    std::vector<Tensor> all;
    for (int chip = 0; chip < 3; ++chip) {
      all.push_back(node.create_buffer(DType::float32, {elements}));
      std::iota(data(all.back()), data(all.back()) + elements, 100.0F * static_cast<float>(chip));
    }
    return all;
  }
  static float* data(const Tensor& tensor) { return reinterpret_cast<float*>(tensor.address()); }

  Worker node{options()};
  const std::vector<int> chips = {0, 1, 2};
};

TEST_P(NodeCollectives, SumInOneLine) {
  const std::vector<Tensor> xs = tensors(1000);
  allreduce(node, xs);
  allreduce(node, xs, ReduceOp::max);
  for (const Tensor& x : xs) {
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(data(x)[i], 300.0F + 3.0F * static_cast<float>(i));
  }
}

TEST_P(NodeCollectives, FollowEachOtherByTheirTensors) {
  const std::vector<Tensor> xs = tensors(3 * kBlock);
  const std::vector<Tensor> turned = tensors(3 * kBlock);
  const std::vector<Tensor> blocks = tensors(kBlock);
  const std::vector<Tensor> all = tensors(3 * kBlock);
  node.run([&](Orchestration& orch) {
    all_to_all(orch, xs, turned, chips);
    reduce_scatter(orch, turned, blocks, chips);
    allgather(orch, blocks, all, chips);
    broadcast(orch, all, chips, 1);
  });
  // Block i of the sum of the turned ones is what chip i had, all blocks of it, added up.
  for (const Tensor& y : all) {
    for (int chip = 0; chip < 3; ++chip) {
      for (int i = 0; i < kBlock; ++i) {
        const float first = 100.0F * static_cast<float>(chip) + static_cast<float>(i);
        ASSERT_EQ(data(y)[chip * kBlock + i], 3 * first + 3.0F * static_cast<float>(kBlock));
      }
    }
  }
}

TEST_P(NodeCollectives, SayWhatIsWrong) {
  const std::vector<Tensor> xs = tensors(6);
  const std::vector<Tensor> ys = tensors(5);
  const auto refused = [&](std::string_view part, const OrchestrationFunction& body) {
    require_error(Code::invalid_argument, {part, "node_level_test.cpp"}, [&] { node.run(body); });
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

INSTANTIATE_TEST_SUITE_P(, NodeCollectives, testing::Values(Isolation::inproc, Isolation::processes),
                         [](const auto& param) {
                           return std::string(param.param == Isolation::inproc ? "Inproc" : "Processes");
                         });

}  // namespace
}  // namespace baton::test
