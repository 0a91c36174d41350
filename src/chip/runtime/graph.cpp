#include <baton/captured_graph.hpp>
#include <baton/graph.hpp>

#include <vector>

#include "base/fail.hpp"
#include "chip/runtime/graph_state.hpp"
#include "kernel/signature.hpp"

namespace baton {
namespace {

chip::Cores cores_of(const Kernel& kernel) {
  return kernel.core == BATON_CORE_CUBE ? chip::Cores::cube : chip::Cores::vector;
}

void check_against_signature(const Kernel& kernel, std::span<const Argument> arguments, const Place& where) {
  if (kernel.signature == nullptr) return;
  const auto parameters = kernel.signature->parameters;
  bool right = kernel.signature->parameter_count == arguments.size();
  for (std::size_t i = 0; right && i < arguments.size(); ++i) {
    const BatonKernelParameter& parameter = parameters[i];
    const Tensor* tensor = arguments[i].tensor();
    right = (parameter.direction == BATON_DIRECTION_SCALAR) == (tensor == nullptr);
    if (!right || tensor == nullptr) continue;
    right = (parameter.type == BATON_TYPE_ANY || parameter.type == static_cast<std::uint32_t>(tensor->dtype())) &&
            (parameter.dims == BATON_ANY_DIMS || parameter.dims == tensor->dims());
  }
  if (right) return;
  std::vector<kernel::GivenArgument> given;
  given.reserve(arguments.size());
  for (const Argument& argument : arguments) {
    const Tensor* tensor = argument.tensor();
    given.push_back(tensor == nullptr ? kernel::GivenArgument::scalar()
                                      : kernel::GivenArgument::tensor(static_cast<std::uint32_t>(tensor->dtype()),
                                                                      static_cast<std::uint32_t>(tensor->dims())));
  }
  // Says which one is wrong.
  try {
    kernel::check_arguments(kernel.name, *kernel.signature, given);
  } catch (const Error& error) {
    std::vector<std::string> notes = error.notes();
    if (where.line != 0) notes.push_back(fmt::format("submitted at {}:{}", where.file, where.line));
    throw Error(error.code(), error.message(), std::move(notes), error.remedy());
  }
}

}  // namespace

TaskId Graph::submit_signed(const Kernel& kernel, std::span<const Argument> arguments, const TaskOptions& options,
                            const Place& where) {
  check_against_signature(kernel, arguments, where);
  return state_->submit({.entry = kernel.function,
                         .name = kernel.name,
                         .cores = cores_of(kernel),
                         .arguments = arguments,
                         .options = options,
                         .where = where});
}

TaskId Graph::submit(const ClusterTask& kernels, std::span<const Argument> arguments, const TaskOptions& options,
                     Place where) {
  const Kernel* first = kernels.cube != nullptr        ? kernels.cube
                        : kernels.vector[0] != nullptr ? kernels.vector[0]
                                                       : kernels.vector[1];
  if (first == nullptr)
    fail(Code::invalid_argument, "a task of a cluster needs a kernel for one of its cores at least");
  return state_->submit({.name = first->name,
                         .cores = chip::Cores::cluster,
                         .cluster = &kernels,
                         .arguments = arguments,
                         .options = options,
                         .where = where});
}

TaskId Graph::submit_empty(std::span<const Argument> arguments, const TaskOptions& options, Place where) {
  return state_->submit({.arguments = arguments, .options = options, .where = where});
}

TaskId Graph::dump(const Tensor& tensor, std::string_view name, std::span<const TaskId> after, Place where) {
  return state_->dump(tensor, name, after, where);
}

bool Graph::dumps() const noexcept { return state_->dumps(); }

void Graph::submit_graph(CapturedGraph& graph, std::span<const Binding> bindings, Place where) {
  state_->submit_graph(*graph.state_, bindings, where);
}

Tensor Graph::submit_notification_wait(const std::int32_t* signal, std::int32_t expected, Place where) {
  return state_->submit_notification_wait(signal, expected, where);
}

Tensor Graph::output(DType dtype, std::span<const std::int64_t> shape, Place where) {
  return state_->output(dtype, shape, where);
}

Tensor Graph::filled_output(DType dtype, std::span<const std::int64_t> shape, const void* value, Place where) {
  return state_->filled_output(dtype, shape, value, where);
}

void Graph::keep(const Tensor& output) { state_->keep(output); }

Graph::Scope Graph::scope(Place where) { return scope(state_->edges(), where); }

Graph::Scope Graph::scope(Edges edges, Place where) {
  const Edges before = state_->edges();
  return {*this, state_->open_scope(edges, where), before};
}

Graph::Scope::~Scope() {
  if (graph_ == nullptr) return;
  graph_->state_->close_scope(id_, edges_after_);
}

void Graph::get_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, void* into) {
  state_->get_element(tensor, dtype, position, into);
}

void Graph::set_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, const void* from) {
  state_->set_element(tensor, dtype, position, from);
}

void Graph::wait(TaskId task) { state_->wait(task); }
bool Graph::full() const noexcept { return state_->full(); }
int Graph::clusters() const noexcept { return state_->clusters(); }
void* Graph::dma_workspace() const noexcept { return state_->dma_workspace(); }
int Graph::vector_cores() const noexcept { return chip::kVectorsPerCluster * state_->clusters(); }

}  // namespace baton
