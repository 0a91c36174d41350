// Graphs as tasks: a function that submits, called with tensors of its caller.
#ifndef BATON_ORCHESTRATION_GRAPHS_HPP
#define BATON_ORCHESTRATION_GRAPHS_HPP

#include <orchestration/task_args.hpp>

namespace baton::orchestration {

struct GraphArgsAt {
  GraphArgsAt(const GraphTaskArgs& graph_args, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE())
      : args(graph_args), where{file, line} {}
  const GraphTaskArgs& args;
  BatonPlaceInSource where;
};

template <typename T>
struct Same {
  using type = T;
};

}  // namespace baton::orchestration

/// Submits what `function` submits with these arguments, in a scope of its own. The arguments have a tensor at least,
/// create nothing and name no tasks.
template <typename... Constants>
void rt_submit_graph(void (*function)(const GraphTaskArgs&, Constants...), baton::orchestration::GraphArgsAt args,
                     typename baton::orchestration::Same<Constants>::type... constants) {
  BatonPredicate predicate;
  const BatonTaskRequest asked = args.args.request(BATON_TASK_GRAPH, predicate, args.where);
  if (baton::orchestration::runtime().open_graph(&asked) == 0) return;
  function(args.args, constants...);
  baton::orchestration::runtime().close_graph(args.where);
}
/// `key` tells graphs apart that one function makes.
template <typename... Constants>
void rt_submit_graph(uint64_t /*key*/, void (*function)(const GraphTaskArgs&, Constants...),
                     baton::orchestration::GraphArgsAt args,
                     typename baton::orchestration::Same<Constants>::type... constants) {
  rt_submit_graph(function, args, constants...);
}

#endif
