#include "node.hpp"

#include <sys/mman.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "bind.hpp"
#include "errors.hpp"
#include "place.hpp"
#include "seconds.hpp"

namespace baton::python {
namespace {

/// Memory that chips share with this process. Arrays use a second mapping of it, which lasts as long as they do: the
/// worker unmaps its own when it is closed.
class NodeMemory final : public Memory {
 public:
  NodeMemory(std::shared_ptr<Node> node, const Tensor& tensor)
      : Memory(tensor.buffer(), Writable::yes), node_(std::move(node)), tensor_(tensor) {
    void* twin = ::mremap(reinterpret_cast<void*>(buffer().address), 0, buffer().bytes, MREMAP_MAYMOVE);
    if (twin == MAP_FAILED) {
      throw Error(Code::out_of_memory, fmt::format("{} bytes cannot be mapped a second time", buffer().bytes));
    }
    twin_ = reinterpret_cast<std::uint64_t>(twin);
  }
  ~NodeMemory() override {
    ::munmap(reinterpret_cast<void*>(twin_), buffer().bytes);
    if (freed || node_->closed()) return;
    try {
      node_->get().free_buffer(tensor_);
    } catch (const Error&) {
      // The worker was closed meanwhile, or is the parent's.
    }
  }
  [[nodiscard]] std::uint64_t array_shift() const noexcept override { return twin_ - buffer().address; }
  [[nodiscard]] const Node* node() const noexcept { return node_.get(); }
  bool freed = false;

 private:
  std::shared_ptr<Node> node_;
  Tensor tensor_;
  std::uint64_t twin_ = 0;
};

std::shared_ptr<Node> make_node(int level, const std::string& platform, const std::vector<int>& devices, bool inproc,
                                int sub_workers, int clusters, int chip_threads, const std::string& chip_program,
                                std::size_t task_window, std::optional<double> kernel_timeout, const std::string& hosts,
                                const std::string& launch_agent, const std::string& interface,
                                const std::string& remote_baton) {
  WorkerOptions options;
  options.level = level;
  options.platform = platform;
  options.devices = devices;
  options.isolation = inproc ? Isolation::inproc : Isolation::processes;
  options.sub_workers = sub_workers;
  options.clusters = clusters;
  options.chip_threads = chip_threads;
  options.chip_program = chip_program;
  if (task_window != 0) options.task_window = task_window;
  options.kernel_timeout = nanoseconds_of(kernel_timeout);
  options.hosts = hosts;
  options.launch_agent = launch_agent;
  options.interface = interface;
  options.remote_baton = remote_baton;
  return std::make_shared<Node>(interruptibly([options] { return std::make_shared<Worker>(options); }));
}

void orchestrate(const std::shared_ptr<Node>& node, Orchestration& orchestration, Lent<Orchestration>& lent,
                 const nb::callable& function, nb::object& kept) {
  const auto view = std::make_shared<OrchestrationView>(node, orchestration, lent);
  kept = nb::cast(view);
  try {
    function(kept);
  } catch (...) {
    view->finish();
    throw;
  }
  view->finish();
}

void run(const std::shared_ptr<Node>& node, const nb::callable& function) {
  auto lent = std::make_shared<Lent<Orchestration>>();
  const Place where = calling_place();
  const RunHandle handle = node->get().submit([lent](Orchestration& given) { lent->lend(given); }, where);
  nb::object kept;  // memory that tasks use, until the run has ended
  std::exception_ptr failed;
  try {
    if (Orchestration* given = lent->await()) orchestrate(node, *given, *lent, function, kept);
  } catch (...) {
    failed = std::current_exception();
  }
  lent->give_back(failed ? Outcome::failed : Outcome::good);
  bool interrupted = false;
  if (failed) {
    try {
      std::rethrow_exception(failed);
    } catch (nb::python_error& error) {
      interrupted = !error.matches(PyExc_Exception);
    } catch (...) {
      // Not of Python: the run has ended, or soon will.
    }
  }
  std::exception_ptr outcome;
  if (!interrupted) {
    try {
      run_interruptibly([handle] { handle.wait(); });
      outcome = handle.failure();
    } catch (nb::python_error&) {
      failed = std::current_exception();
      interrupted = true;
    }
  }
  if (interrupted) {
    kept.release();  // tasks may go on
    node->abandon();
    std::rethrow_exception(failed);
  }
  raise_outcome(outcome, failed);
}

}  // namespace

const std::shared_ptr<Worker>& Node::shared() const {
  if (!worker_) throw Error(Code::released, "this worker was closed");
  process_.check("this worker");
  return worker_;
}

Node::~Node() {
  if (abandoned_) static_cast<void>(new std::shared_ptr<Worker>(std::move(worker_)));
}

void Node::close() {
  if (!worker_) return;
  if (process_.is_this()) run_interruptibly([worker = worker_] { worker->close(); });
  worker_.reset();
}

Array Node::create_buffer(DType dtype, const std::vector<std::int64_t>& shape, const std::string& name, int chip) {
  const Tensor made =
      chip < 0 ? get().create_buffer(dtype, shape, name) : get().create_buffer_on(chip, dtype, shape, name);
  return {made, std::make_shared<NodeMemory>(shared_from_this(), made)};
}

void Node::free(const Array& array) {
  auto* memory = dynamic_cast<NodeMemory*>(array.memory.get());
  if (memory == nullptr || memory->node() != this) {
    throw Error(Code::invalid_argument, fmt::format("{} is not a buffer of this worker", array.tensor.describe()));
  }
  memory->release("the buffer");
  memory->freed = true;
  get().free_buffer(array.tensor);
}

void bind_node(nb::module_& module) {
  nb::class_<Node>(module, "Node")
      .def("create_buffer",
           [](Node& node, const std::vector<std::int64_t>& shape, const std::string& dtype, const std::string& name,
              int chip) { return node.create_buffer(dtype_named(dtype), shape, name, chip); })
      .def("free", &Node::free)
      .def("run", run)
      .def("copy_to",
           [](Node& node, const Array& to, const nb::object& from) {
             const Array source = copied_to(to, from);
             check_copy(to, source, "copy_to");
             run_interruptibly([worker = node.shared(), to, source] {
               worker->copy_to(to.tensor, reinterpret_cast<const void*>(source.tensor.address()), bytes_of(source));
             });
           })
      .def("copy_from",
           [](Node& node, const nb::object& to, const Array& from) {
             const Array target = copied_from(from, to);
             check_copy(target, from, "copy_from");
             run_interruptibly([worker = node.shared(), from, target] {
               worker->copy_from(reinterpret_cast<void*>(target.tensor.address()), from.tensor, bytes_of(target));
             });
           })
      .def_prop_ro("chip_count", [](const Node& node) { return node.get().chip_count(); })
      .def("pid_of", [](const Node& node, int chip) { return node.get().pid_of(chip); })
      .def("restart", [](Node& node) { run_interruptibly([worker = node.shared()] { worker->restart(); }); })
      .def_prop_ro("abandoned", &Node::abandoned)
      .def_prop_ro("of_this_process", [](const Node& node) { return node.process().is_this(); })
      .def("close", &Node::close);
  module.def("make_node", make_node, nb::arg("level"), nb::arg("platform"), nb::arg("devices"), nb::arg("inproc"),
             nb::arg("sub_workers"), nb::arg("clusters"), nb::arg("chip_threads"), nb::arg("chip_program"),
             nb::arg("task_window"), nb::arg("kernel_timeout").none(), nb::arg("hosts") = "",
             nb::arg("launch_agent") = "", nb::arg("interface") = "", nb::arg("remote_baton") = "");
  bind_orchestration(module);
}

}  // namespace baton::python
