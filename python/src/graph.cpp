#include "graph.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "bind.hpp"
#include "captured.hpp"
#include "gil.hpp"
#include "graph_elements.hpp"
#include "kernel.hpp"
#include "place.hpp"

namespace baton::python {

Graph& GraphHandle::graph() const {
  if (graph_ == nullptr) {
    throw Error(Code::released, "a graph was used after its orchestration returned",
                {"submit inside the function that chip.run() calls"});
  }
  return *graph_;
}
ChipHost& GraphHandle::host() const { return static_cast<void>(graph()), *host_; }
LentGraph& GraphHandle::lent() const { return static_cast<void>(graph()), *lent_; }

std::uint64_t GraphHandle::open(Graph::Scope scope) {
  scopes_.push_back(std::make_unique<Graph::Scope>(std::move(scope)));
  return scopes_.size();
}

void GraphHandle::close(std::uint64_t scope) {
  if (graph_ == nullptr || scopes_.size() < scope) return;  // finish() was quicker
  while (scopes_.size() >= scope) scopes_.pop_back();
}

void GraphHandle::finish() {
  graph_ = nullptr;
  if (!lent_->at_work()) return end_scopes(scopes_);
  struct Left {
    Scopes scopes;
    Left(const Left&) = delete;
    Left& operator=(const Left&) = delete;
    explicit Left(Scopes given) : scopes(std::move(given)) {}
    ~Left() { end_scopes(scopes); }
  };
  lent_->leave(std::make_shared<Left>(std::move(scopes_)));
}

void GraphHandle::end_scopes(Scopes& scopes) {
  while (!scopes.empty()) scopes.pop_back();
}

bool GraphHandle::has_room(std::int64_t bytes) {
  // Generous: the heap aligns what it gives.
  constexpr std::uint64_t kAlign = 4096;
  given_bytes_ += (static_cast<std::uint64_t>(bytes) + kAlign - 1) / kAlign * kAlign;
  return given_bytes_ <= host_->output_heap_bytes();
}

namespace {

/// A scope of `with graph.scope():`.
struct ScopeHandle {
  std::shared_ptr<GraphHandle> graph;
  bool manual;
  std::uint64_t id = 0;

  void enter() {
    const Place where = calling_place();
    id = graph->open(manual ? graph->graph().manual_scope(where) : graph->graph().scope(where));
  }
  void exit() {
    const Unlocked unlocked;
    graph->close(id);
  }
};

WaitCmp comparison_named(const std::string& symbol) {
  for (const WaitCmp each : {WaitCmp::eq, WaitCmp::ne, WaitCmp::gt, WaitCmp::ge, WaitCmp::lt, WaitCmp::le}) {
    if (symbol == symbol_of(each)) return each;
  }
  throw Error(Code::invalid_argument, fmt::format("there is no comparison '{}'", symbol),
              {"use ==, !=, >, >=, < or <="});
}

/// (element, "==", value).
Predicate predicate_from(nb::handle given, ChipHost& host) {
  const Array array = array_of(given[0], "the element of only_if", Writable::no, Layout::strided, Lies::anywhere);
  host.use(array);
  return {array.get(), comparison_named(nb::cast<std::string>(given[1])), nb::cast<std::int64_t>(given[2])};
}

/// How a task is run, from keyword arguments.
TaskOptions options_from(const nb::kwargs& given, ChipHost& host) {
  TaskOptions options;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "blocks") {
      options.blocks = nb::cast<std::uint32_t>(value);
    } else if (name == "start_together") {
      options.start_together = nb::cast<bool>(value);
    } else if (name == "priority") {
      options.priority = nb::cast<std::int32_t>(value);
    } else if (name == "after") {
      options.after = nb::cast<std::vector<TaskId>>(value);
    } else if (name == "tokens") {
      for (const nb::handle token : value) {
        const Array array = array_of(token, "a token", Writable::no, Layout::contiguous, Lies::anywhere);
        host.use(array);
        options.tokens.push_back(array.tensor);
      }
    } else if (name == "only_if") {
      if (!value.is_none()) options.only_if = predicate_from(value, host);
    } else {
      throw nb::type_error(fmt::format("submit() has no argument '{}'; there are blocks, start_together, priority, "
                                       "after, tokens and only_if",
                                       name)
                               .c_str());
    }
  }
  return options;
}

/// Submits here, or, if that may wait, where Ctrl-C can end the wait; `call` owns all that it uses then.
template <class Call>
TaskId submit_interruptibly(GraphHandle& handle, Call call) {
  Graph& graph = handle.graph();
  if (!graph.full()) {
    const Unlocked unlocked;
    return call(graph);
  }
  const auto task = std::make_shared<TaskId>();
  handle.lent().run_there([call = std::move(call), task](Graph& lent) { *task = call(lent); });
  return *task;
}

TaskId submit(GraphHandle& handle, const LoadedKernel& kernel, const nb::args& given, const nb::kwargs& keywords) {
  static_cast<void>(handle.graph());
  const Place where = calling_place();
  const auto arguments = std::make_shared<CallArguments>(&kernel.get(), given);
  handle.host().use(kernel);
  const TaskOptions options = options_from(keywords, handle.host());
  for (const Array& array : arguments->arrays()) handle.host().use(array);
  return submit_interruptibly(handle, [=, loaded = kernel](Graph& graph) {
    return graph.submit_arguments(loaded.get(), arguments->get(), options, where);
  });
}

TaskId submit_cluster(GraphHandle& handle, const nb::args& given, const nb::object& cube, const nb::object& vectors,
                      const nb::kwargs& keywords) {
  static_cast<void>(handle.graph());
  const Place where = calling_place();
  const auto kept = std::make_shared<std::vector<LoadedKernel>>();
  std::vector<LoadedKernel>& keep = *kept;
  keep.reserve(3);
  const auto taken = [&](nb::handle kernel) -> const Kernel* {
    if (kernel.is_none()) return nullptr;
    keep.push_back(nb::cast<LoadedKernel>(kernel));
    handle.host().use(keep.back());
    return &keep.back().get();
  };
  ClusterTask task;
  task.cube = taken(cube);
  std::size_t place = 0;
  for (const nb::handle vector : vectors) {
    if (place == task.vector.size()) throw nb::value_error("a cluster has two vector cores");
    task.vector[place++] = taken(vector);
  }
  const auto arguments = std::make_shared<CallArguments>(keep.empty() ? nullptr : &keep.front().get(), given);
  const TaskOptions options = options_from(keywords, handle.host());
  for (const Array& array : arguments->arrays()) handle.host().use(array);
  return submit_interruptibly(handle, [=](Graph& graph) {
    return static_cast<void>(kept), graph.submit(task, arguments->get(), options, where);
  });
}

TaskId submit_empty(GraphHandle& handle, const nb::args& given, const nb::kwargs& keywords) {
  static_cast<void>(handle.graph());
  const Place where = calling_place();
  const auto arguments = std::make_shared<CallArguments>(nullptr, given);
  const TaskOptions options = options_from(keywords, handle.host());
  for (const Array& array : arguments->arrays()) handle.host().use(array);
  return submit_interruptibly(handle,
                              [=](Graph& graph) { return graph.submit_empty(arguments->get(), options, where); });
}

TaskId dump(GraphHandle& handle, const nb::object& tensor, const std::string& name, const std::vector<TaskId>& after) {
  static_cast<void>(handle.graph());
  const Place where = calling_place();
  const Array array = array_of(tensor, "what is dumped", Writable::no, Layout::strided, Lies::anywhere);
  handle.host().use(array);
  return submit_interruptibly(handle,
                              [=, view = array.get()](Graph& graph) { return graph.dump(view, name, after, where); });
}

Array submit_notification_wait(GraphHandle& handle, const nb::object& signal, std::int32_t expected) {
  const Array array = array_of(signal, "the signal", Writable::no, Layout::strided, Lies::anywhere);
  handle.host().use(array);
  if (array.tensor.dtype() != DType::int32) {
    throw Error(Code::invalid_argument, "a signal is an int32", {"pass one element of a tensor of int32"});
  }
  return {handle.graph().submit_notification_wait(reinterpret_cast<const std::int32_t*>(array.tensor.address()),
                                                  expected, calling_place()),
          nullptr};
}

void submit_graph(GraphHandle& handle, const std::shared_ptr<Captured>& captured, const nb::object& instead) {
  const Place where = calling_place();
  if (captured->host() != &handle.host()) throw Error(Code::invalid_argument, "another chip captured this graph");
  const Bindings bindings{nb::list(instead)};
  handle.host().hold(captured);
  for (const Array& array : bindings.arrays) handle.host().use(array);
  // It may wait, in the middle of its tasks.
  handle.lent().run_there([graph = captured->shared(), list = bindings.list, where](Graph& lent) {
    lent.submit_graph(*graph, list, where);
  });
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<ScopeHandle>(module, "Scope", "What is submitted inside `with graph.scope():` lives until its end.")
      .def("__enter__", [](ScopeHandle& scope) { scope.enter(); })
      .def("__exit__", [](ScopeHandle& scope, const nb::args&) { scope.exit(); });
  nb::class_<GraphHandle>(module, "Graph",
                          "What an orchestration submits kernels to; chip.run() passes one. Used until the "
                          "orchestration returns.")
      .def(
          "submit", submit, nb::arg("kernel"), nb::arg("args"), nb::arg("kwargs"),
          nb::sig("def submit(self, kernel: Kernel, *args: object, blocks: int = 1, start_together: bool = False, "
                  "priority: int = 0, after: Sequence[int] = (), tokens: Sequence[Tensor] = (), only_if: tuple[object, "
                  "str, int] | None = None) -> int"),
          "Submits a kernel with its arguments: tensors or arrays, and numbers, in the order of its parameters. Edges "
          "to earlier tasks follow from what both do with their tensors. Waits while too many tasks are in flight.\n\n"
          "blocks: run N blocks of the kernel. start_together: all of them at the same time. priority: higher ones "
          "first. after: tasks to wait for, too. tokens: tensors whose writers to wait for. only_if=(flags[2:3], "
          "'>', 0): when the task is ready, that element of an integer type decides whether the kernel runs; if not, "
          "the "
          "task is complete at once.\n\n"
          "Returns the number of the task.")
      .def(
          "submit_cluster", submit_cluster, nb::arg("args"), nb::kw_only(), nb::arg("cube").none() = nb::none(),
          nb::arg("vectors") = nb::tuple(), nb::arg("kwargs"),
          nb::sig(
              "def submit_cluster(self, *args: object, cube: Kernel | None = None, vectors: Sequence[Kernel | None] "
              "= (), blocks: int = 1, start_together: bool = False, priority: int = 0, after: Sequence[int] = (), "
              "tokens: Sequence[Tensor] = (), only_if: tuple[object, str, int] | None = None) -> int"),
          "Submits a task for a whole cluster: a cube kernel and up to two vector kernels that get the same arguments.")
      .def("submit_empty", submit_empty, nb::arg("args"), nb::arg("kwargs"),
           nb::sig("def submit_empty(self, *args: object, priority: int = 0, after: Sequence[int] = (), tokens: "
                   "Sequence[Tensor] = ()) -> int"),
           "Submits a task without a kernel: only edges. Arguments are marked: IN(x), OUT(x).")
      .def("dump", dump, nb::arg("tensor"), nb::arg("name"), nb::kw_only(), nb::arg("after") = nb::tuple(),
           nb::sig("def dump(self, tensor: object, name: str, *, after: Sequence[int] = ()) -> int"),
           "A task that reads the tensor and writes it into a file of NumPy's, if Chip(dump=...) or BATON_DUMP names a "
           "folder; otherwise it only reads. The file is called rank0-chip0-run1-0001-NAME.npy. Returns the number of "
           "the task.")
      .def("submit_notification_wait", submit_notification_wait, nb::arg("signal"), nb::arg("expected"),
           "A task that completes when the signal, an int32, is at least `expected`. Returns a token: a task that "
           "takes it as an input, or in tokens=, waits for that.")
      .def("submit_graph", submit_graph, nb::arg("captured"), nb::arg("instead") = nb::tuple(),
           nb::sig("def submit_graph(self, captured: CapturedGraph, instead: Sequence[tuple[object, object]] = ()) -> "
                   "None"),
           "Submits all tasks of a captured graph, without calling its orchestration; instead=[(x, x2)] uses x2 where "
           "it "
           "was captured with x. They have outputs of their own, and edges to other tasks of this graph.")
      .def("output", output, nb::arg("shape"), nb::arg("dtype") = "float32", nb::arg("fill").none() = nb::none(),
           "Memory of the runtime for a result that only later tasks use: it lives until the scope ends. fill: what "
           "every "
           "element is when the task runs that is submitted next.")
      .def(
          "keep", [](GraphHandle& handle, const Array& array) { handle.graph().keep(array.tensor); }, nb::arg("output"),
          "The output lives on in the scope around the present one.")
      .def(
          "scope",
          [](const std::shared_ptr<GraphHandle>& handle) {
            return ScopeHandle{handle, false};
          },
          "with graph.scope(): outputs made inside end with it.")
      .def(
          "manual_scope",
          [](const std::shared_ptr<GraphHandle>& handle) {
            return ScopeHandle{handle, true};
          },
          "with graph.manual_scope(): only after= and tokens= make edges inside.")
      .def("get", get, nb::arg("tensor"), nb::arg("position"), "One element; waits for the tasks that write it.")
      .def("set", set, nb::arg("tensor"), nb::arg("position"), nb::kw_only(), nb::arg("value"),
           "Waits for the tasks that write or read the element, then changes it.")
      .def(
          "wait",
          [](GraphHandle& handle, TaskId task) { handle.lent().run_there([task](Graph& graph) { graph.wait(task); }); },
          nb::arg("task"), "Waits until the task is complete.")
      .def_prop_ro(
          "clusters", [](const GraphHandle& handle) { return handle.graph().clusters(); }, "Of the chip.")
      .def_prop_ro(
          "vector_cores", [](const GraphHandle& handle) { return handle.graph().vector_cores(); }, "Of the chip.");
}

}  // namespace baton::python
