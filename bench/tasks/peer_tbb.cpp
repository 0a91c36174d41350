// Flow graphs of oneTBB. Their edges are known before the clock starts; building the graph counts as submitting it.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include <deque>

#include "tasks/contender.hpp"
#include "tasks/edges.hpp"

namespace {

namespace flow = oneapi::tbb::flow;
using bench::Pattern;
using bench::PatternTask;
using Edges = std::vector<std::vector<std::uint32_t>>;

/// `Policy`: lightweight nodes run on the thread that made them ready, within its call.
template <class Policy>
bench::Times run_once(const Pattern& pattern, const Edges& edges) {
  using Node = flow::continue_node<flow::continue_msg, Policy>;
  flow::graph graph;
  // Declared here: taking the graph apart is not counted.
  std::deque<Node> nodes;
  bench::Times times;
  for (const PatternTask& task : pattern.tasks) {
    nodes.emplace_back(graph, [&task](const flow::continue_msg& message) noexcept {
      bench::body(task);
      return message;
    });
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::uint32_t before : edges[i]) flow::make_edge(nodes[before], nodes[i]);
  }
  times.all_submitted();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (edges[i].empty()) nodes[i].try_put(flow::continue_msg());
  }
  graph.wait_for_all();
  times.all_done();
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv, [](const bench::Arguments& arguments) {
    using Control = oneapi::tbb::global_control;
    const Control threads(Control::max_allowed_parallelism, bench::usable_processors().size());
    const Pattern pattern = bench::pattern_named(arguments.pattern, arguments.tasks);
    const Edges edges = bench::predecessors_of(pattern);
    bench::measure_pattern(arguments, pattern, [&](const Pattern& what) {
      if (arguments.method == "lightweight") return run_once<flow::queueing_lightweight>(what, edges);
      return run_once<flow::queueing>(what, edges);
    });
  });
}
