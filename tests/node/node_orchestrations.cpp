// Orchestrations of chips, for the tests of nodes.
#include "node_kernels.hpp"
#include "node_platform.hpp"

namespace baton::test {

void four_times_plus(Graph& graph, const ChipArgs& args) {
  const Tensor between = graph.output(DType::float32, {args.tensor(0).extent(0)});
  graph.submit(loaded(node_twice), {{Access::in, args.tensor(0)}, {Access::out, between}});
  graph.submit(loaded(node_twice), {{Access::in, between}, {Access::out, args.tensor(1)}});
  graph.submit(loaded(node_add), {{Access::inout, args.tensor(1)}, args.scalar<float>(0)});
}

void next_after(Graph& graph, const ChipArgs& args) {
  graph.submit(loaded(node_next_after),
               {{Access::in, args.tensor(0)}, {Access::in, args.tensor(1)}, {Access::out, args.tensor(2)}});
}

void nothing(Graph& /*graph*/, const ChipArgs& /*args*/) {}

}  // namespace baton::test
