#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "bind.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "kernel.hpp"
#include "node.hpp"
#include "place.hpp"

namespace baton::python {

Orchestration& OrchestrationView::get() const {
  if (orchestration_ == nullptr) {
    throw Error(Code::released, "an orchestration was used after its function returned",
                {"submit inside the function that worker.run() calls"});
  }
  return *orchestration_;
}
Lent<Orchestration>& OrchestrationView::lent() const { return static_cast<void>(get()), *lent_; }

std::size_t OrchestrationView::open_scope() {
  scopes_.push_back(std::make_unique<Orchestration::Scope>(get().scope()));
  return scopes_.size();
}

void OrchestrationView::close_scope(std::size_t depth) {
  while (orchestration_ != nullptr && scopes_.size() >= depth) scopes_.pop_back();
}

void OrchestrationView::finish() {
  while (!scopes_.empty()) scopes_.pop_back();
  orchestration_ = nullptr;
}

namespace {

/// Memory that ends with a scope: no array may outlive it.
class ScopedMemory : public Memory {
 public:
  explicit ScopedMemory(const Buffer& buffer) noexcept : Memory(buffer, Writable::yes) {}
  [[nodiscard]] const char* why_no_array() const noexcept override { return "it ends with its scope"; }
};

/// A buffer in the window of a chip, which this process does not map.
class ChipWindowMemory final : public ScopedMemory {
 public:
  explicit ChipWindowMemory(const DomainMember::Placed& placed) noexcept
      : ScopedMemory(placed.tensor.buffer()), shift_(placed.address - placed.tensor.buffer().address) {}
  [[nodiscard]] const char* why_no_array() const noexcept override { return "it lies in the window of a chip"; }
  [[nodiscard]] std::uint64_t kernel_shift() const noexcept override { return shift_; }

 private:
  std::uint64_t shift_;
};

TensorArgType type_of(Access access) {
  switch (access) {
    case Access::in: return TensorArgType::input;
    case Access::out: return TensorArgType::output;
    case Access::inout: return TensorArgType::inout;
    case Access::no_dependency: return TensorArgType::no_dep;
  }
  return TensorArgType::inout;
}

/// Arguments for a chip: checked against the kernel, in its order.
TaskArgs task_args(OrchestrationView& view, const Kernel* kernel, const nb::object& given) {
  TaskArgs args;
  const CallArguments call(kernel, nb::borrow<nb::args>(nb::tuple(given)), Lies::on_host);
  for (const Array& array : call.arrays()) view.hold(array);
  for (const Argument& argument : call.get()) {
    if (argument.tensor() != nullptr) {
      args.add_tensor(*argument.tensor(), type_of(argument.access()));
    } else {
      args.add_slot(argument.slot());
    }
  }
  return args;
}

struct Config {
  std::uint32_t blocks;
  bool start_together;
  std::int32_t priority;
  std::vector<Array> tokens;
  [[nodiscard]] TaskConfig get() const {
    TaskConfig config{blocks, start_together, priority};
    for (const Array& token : tokens) config.tokens.push_back(token.tensor);
    return config;
  }
};

/// What chips run, and the kernel whose signature its arguments follow; null if it has none.
struct Target {
  Callable callable;
  const Kernel* kernel;
};

Target target_of(nb::handle given) {
  LoadedKernel* kernel = nullptr;
  if (nb::try_cast(given, kernel) && kernel != nullptr) {
    return {Callable::in_library(kernel->library(), kernel->get()), &kernel->get()};
  }
  LoadedOrchestration* loaded = nullptr;
  if (nb::try_cast(given, loaded) && loaded != nullptr) {
    return {Callable::orchestration_in_library(loaded->library(), loaded->name()), nullptr};
  }
  ChipProgram* program = nullptr;
  if (nb::try_cast(given, program) && program != nullptr) return {Callable::program(program->parts()), nullptr};
  throw Error(
      Code::invalid_argument, fmt::format("chips cannot run a {}", Py_TYPE(given.ptr())->tp_name),
      {"pass a kernel (baton.kernel), an orchestration of a library (baton.kernels(...).orchestration) or a chip "
       "program (baton.ChipProgram)"});
}

/// Submits here, or, if that may wait, where Ctrl-C can end the wait; `call` owns all that it uses.
template <class Call>
TaskId submit_interruptibly(OrchestrationView& view, Call call) {
  Orchestration& orchestration = view.get();
  if (!orchestration.full()) {
    const Unlocked unlocked;
    return call(orchestration);
  }
  const auto task = std::make_shared<TaskId>();
  view.lent().run_there([call = std::move(call), task](Orchestration& lent) { *task = call(lent); });
  return *task;
}

TaskId submit_next_level(OrchestrationView& view, const nb::object& given, const nb::object& args, int worker,
                         const Config& config) {
  const Place where = calling_place();
  const Target target = target_of(given);
  TaskArgs list = task_args(view, target.kernel, args);
  return submit_interruptibly(
      view, [callable = target.callable, list = std::move(list), worker, config = config.get(),
             where](Orchestration& o) { return o.submit_next_level(callable, list, worker, config, where); });
}

TaskId submit_next_level_group(OrchestrationView& view, const nb::object& given, const nb::object& args_list,
                               const std::vector<int>& workers, const Config& config) {
  const Place where = calling_place();
  const Target target = target_of(given);
  std::vector<TaskArgs> lists;
  for (const nb::handle args : args_list) lists.push_back(task_args(view, target.kernel, nb::borrow(args)));
  return submit_interruptibly(
      view, [callable = target.callable, lists = std::move(lists), workers, config = config.get(),
             where](Orchestration& o) { return o.submit_next_level_group(callable, lists, workers, config, where); });
}

/// `function` is called with the list of tensors, on a thread of the node. Scalars are its own business.
TaskId submit_sub(OrchestrationView& view, const nb::callable& function, const nb::object& args) {
  const Place where = calling_place();
  TaskArgs list = task_args(view, nullptr, args);
  // The node destroys the function on a thread without the GIL.
  const std::shared_ptr<PyObject> held(nb::callable(function).release().ptr(), [](PyObject* last) {
    const Locked locked;
    Py_DECREF(last);
  });
  SubFunction call = [held](const ChipArgs& given) {
    const Locked locked;
    nb::list tensors;
    for (std::size_t i = 0; i < given.tensor_count(); ++i) {
      const Tensor& tensor = given.tensor(i);
      // The task keeps the memory until the function returns.
      tensors.append(nb::cast(Array{tensor, std::make_shared<Memory>(tensor.buffer(), Writable::yes)}));
    }
    try {
      nb::borrow<nb::callable>(held.get())(tensors);
    } catch (const nb::python_error& raised) {
      throw error_of(raised, Code::rank_failed);
    }
  };
  return submit_interruptibly(view, [call = std::move(call), list = std::move(list), where](Orchestration& o) {
    return o.submit_sub(call, list, where);
  });
}

Array submit_notification_wait(OrchestrationView& view, const Array& signal, std::int32_t expected) {
  const Place where = calling_place();
  auto token = std::make_shared<Tensor>();
  view.lent().run_there([=, tensor = signal.get()](Orchestration& orchestration) {
    *token = orchestration.submit_notification_wait(tensor, expected, where);
  });
  return {*token, nullptr};
}

Array alloc(OrchestrationView& view, const std::vector<std::int64_t>& shape, const std::string& dtype,
            const std::string& name, int chip) {
  Orchestration& orchestration = view.get();
  const Tensor made = chip < 0 ? orchestration.alloc(dtype_named(dtype), shape, name)
                               : orchestration.alloc_on(chip, dtype_named(dtype), shape, name);
  return {made, std::make_shared<ScopedMemory>(made.buffer())};
}

NodeDomain allocate_domain(OrchestrationView& view, const std::string& name, const std::vector<int>& workers,
                           std::size_t window_bytes,
                           const std::vector<std::tuple<std::string, std::string, std::size_t, std::size_t>>& buffers) {
  std::vector<CommBufferSpec> specs;
  for (const auto& [buffer, dtype, count, bytes] : buffers) {
    specs.push_back({.name = buffer, .dtype = dtype_named(dtype), .count = count, .bytes = bytes});
  }
  const Place where = calling_place();
  auto made = std::make_shared<DomainHandle>();
  view.lent().run_there([=](Orchestration& orchestration) {
    *made = orchestration.allocate_domain(name, workers, window_bytes, specs, where);
  });
  return {made};
}

nb::dict member(const NodeDomain& domain, int chip) {
  const DomainMember& found = (*domain.handle)[chip];
  nb::dict buffers;
  for (const DomainMember::Placed& placed : found.buffers) {
    buffers[placed.name.c_str()] = Array{placed.tensor, std::make_shared<ChipWindowMemory>(placed)};
  }
  nb::dict out;
  out["chip"] = found.chip;
  out["domain_rank"] = found.domain_rank;
  out["domain_size"] = found.domain_size;
  out["device_ctx"] = found.device_ctx;
  out["local_window_base"] = found.local_window_base;
  out["actual_window_size"] = found.actual_window_size;
  out["buffers"] = buffers;
  return out;
}

}  // namespace

void bind_orchestration(nb::module_& module) {
  nb::class_<Config>(module, "TaskConfig",
                     "How a chip runs a kernel.\n\n"
                     "blocks          how often it runs, each time with its own get_block_idx()\n"
                     "start_together  all blocks are on cores at the same time, so they may wait for each other\n"
                     "priority        above 0: before ordinary tasks that are ready; below 0: after them\n"
                     "tokens          of submit_notification_wait(): it waits for these, and does not see them")
      .def(
          "__init__",
          [](Config* made, std::uint32_t blocks, bool start_together, std::int32_t priority,
             std::vector<Array> tokens) {
            new (made) Config{blocks, start_together, priority, std::move(tokens)};
          },
          nb::arg("blocks") = 1, nb::arg("start_together") = false, nb::arg("priority") = 0,
          nb::arg("tokens") = std::vector<Array>{})
      .def_rw("blocks", &Config::blocks, "Executions of the kernel.")
      .def_rw("start_together", &Config::start_together, "Whether all blocks are on cores at the same time.")
      .def_rw("priority", &Config::priority, "Higher ones first, among tasks that are ready.")
      .def_rw("tokens", &Config::tokens, "Tokens of waits for notifications; it waits for these, too.");
  nb::class_<NodeDomain>(module, "NodeDomain")
      .def_prop_ro("name", [](const NodeDomain& domain) { return domain.handle->name(); })
      .def_prop_ro("chips", [](const NodeDomain& domain) { return domain.handle->chips(); })
      .def("contains", [](const NodeDomain& domain, int chip) { return domain.handle->contains(chip); })
      .def("member", member)
      .def("release", [](const NodeDomain& domain) {
        const Unlocked unlocked;
        domain.handle->release();
      });
  nb::class_<OrchestrationView>(module, "Orchestration")
      .def_prop_ro("chip_count", [](const OrchestrationView& view) { return view.get().chip_count(); })
      .def("submit_next_level", submit_next_level)
      .def("submit_next_level_group", submit_next_level_group)
      .def("submit_sub", submit_sub)
      .def("submit_notification_wait", submit_notification_wait)
      .def("alloc", alloc)
      .def("allocate_domain", allocate_domain)
      .def("copy_to",
           [](OrchestrationView& view, const Array& to, const nb::object& from) {
             const Array source = copied_to(to, from);
             check_copy(to, source, "copy_to");
             view.lent().run_there([to, source](Orchestration& orchestration) {
               orchestration.copy_to(to.tensor, reinterpret_cast<const void*>(source.tensor.address()),
                                     bytes_of(source));
             });
           })
      .def("copy_from",
           [](OrchestrationView& view, const nb::object& to, const Array& from) {
             const Array target = copied_from(from, to);
             check_copy(target, from, "copy_from");
             view.lent().run_there([from, target](Orchestration& orchestration) {
               orchestration.copy_from(reinterpret_cast<void*>(target.tensor.address()), from.tensor, bytes_of(target));
             });
           })
      .def("wait",
           [](OrchestrationView& view, TaskId task) {
             view.lent().run_there([task](Orchestration& orchestration) { orchestration.wait(task); });
           })
      .def("open_scope", &OrchestrationView::open_scope)
      .def("close_scope", &OrchestrationView::close_scope);
}

}  // namespace baton::python
