// A captured graph as a part of another one.
#include <array>

#include "base/fail.hpp"
#include "chip/graph/chip_tensor.hpp"
#include "chip/runtime/captured_state.hpp"
#include "chip/runtime/graph_state.hpp"

namespace baton::chip {
namespace {

bool contains(const Buffer& buffer, std::uint64_t address) {
  return address >= buffer.address && address < buffer.address + buffer.bytes;
}

/// The kernels of a cluster, as a submission has them.
struct ClusterOf {
  explicit ClusterOf(const ClusterKernels& plan) {
    const auto at = [&](std::size_t i) -> const Kernel* {
      kernels[i] = {plan.name[i], plan.entry[i], nullptr, BATON_CORE_VECTOR, 0};
      return plan.entry[i] == nullptr ? nullptr : &kernels[i];
    };
    task = {.cube = at(0), .vector = {at(1), at(2)}};
  }
  ClusterOf(const ClusterOf&) = delete;
  ClusterOf& operator=(const ClusterOf&) = delete;
  ~ClusterOf() = default;

  std::array<Kernel, 3> kernels{};
  ClusterTask task;
};

}  // namespace

std::vector<CapturedState::Move> CapturedState::moves_for(GraphState& graph, std::span<const Binding> bindings,
                                                          const Place& where) {
  // Descriptors are where they were captured.
  bind({});
  std::vector<Move> moves;
  for (const Binding& binding : bindings) {
    check_room(binding);
    static_cast<void>(piece_of(binding));
    moves.push_back({binding.captured.buffer(), binding.instead.buffer()});
  }
  for (const Buffer& output : outputs_) {
    const std::int64_t bytes[] = {static_cast<std::int64_t>(output.bytes)};
    moves.push_back({output, graph.output(DType::uint8, bytes, where).buffer()});
  }
  return moves;
}

Tensor CapturedState::moved(const ChipTensor& descriptor, std::span<const Move> moves) {
  Buffer buffer{.address = descriptor.buffer.addr, .bytes = descriptor.buffer.size};
  const auto dtype = static_cast<DType>(descriptor.dtype);
  std::array<std::int64_t, kMaxDims> shape{};
  std::array<std::int64_t, kMaxDims> strides{};
  const std::size_t dims = descriptor.ndims;
  for (std::size_t i = 0; i < dims; ++i) {
    shape[i] = descriptor.shapes[i];
    strides[i] = descriptor.strides[i];
  }
  const Tensor::Extents extents(shape.data(), dims);
  if (descriptor.extent_elem_cache == 0) return Tensor::empty(dtype, extents);
  for (const Move& move : moves) {
    if (!contains(move.from, buffer.address)) continue;
    buffer.address += move.to.address - move.from.address;
    buffer.id = move.to.id;
    break;
  }
  return {buffer, dtype, extents, {strides.data(), dims}, static_cast<std::int64_t>(descriptor.start_offset)};
}

void CapturedState::submit_to(GraphState& graph, std::span<const Binding> bindings, const Place& where) {
  const std::vector<Move> moves = moves_for(graph, bindings, where);
  for (const Fill& fill : fills_) {
    graph.fill(moved(graph::to_chip_tensor(fill.output), moves), fill.value);
  }
  tasks_.next_run();
  const Edges around = graph.edges();
  std::vector<TaskId> numbers;
  std::vector<Tensor> tensors;
  std::vector<Argument> arguments;
  for (TaskId id = 1; id <= tasks_.newest(); ++id) {
    const Task& task = tasks_[id];
    const TaskPlan& plan = task.plan;
    const Submitted& submitted = submitted_[static_cast<std::size_t>(id - 1)];
    tensors.clear();
    tensors.reserve(plan.tensor_count);  // arguments refer to them
    arguments.clear();
    for (std::uint32_t i = 0; i < plan.tensor_count; ++i) {
      const auto& descriptor = *reinterpret_cast<const ChipTensor*>(plan.args[i]);
      const bool token = descriptor.address_space == graph::kTokenSpace;
      tensors.push_back(token ? Tensor::token(descriptor.buffer.addr) : moved(descriptor, moves));
      // The edges of tokens are among those that are known.
      arguments.emplace_back(token ? Access::no_dependency : accesses_[submitted.first_access + i], tensors.back());
    }
    const TaskExtra* extra = plan.extras();
    TaskOptions options;
    options.blocks = plan.blocks;
    options.start_together = plan.start == BlockStart::together;
    options.priority = plan.priority;
    options.completion_queue = extra != nullptr && extra->completion_queue;
    const std::uint32_t scalars_end = plan.arg_count - (options.completion_queue ? 1 : 0);
    for (std::uint32_t i = plan.tensor_count; i < scalars_end; ++i) arguments.emplace_back(plan.args[i]);
    if (plan.entry == dump_kernel) arguments.back() = Argument(graph.next_dump());
    if (extra != nullptr && extra->has_predicate) {
      options.only_if = Predicate{moved(*extra->element, moves), extra->comparison, extra->value};
    }
    for (const TaskId earlier : tasks_.predecessors(id)) {
      options.after.push_back(numbers[static_cast<std::size_t>(earlier - 1)]);
    }
    std::optional<ClusterOf> cluster;
    if (plan.cluster != nullptr) cluster.emplace(*plan.cluster);
    graph.set_edges(around == Edges::named ? around : submitted.edges);
    numbers.push_back(graph.submit({.entry = plan.entry,
                                    .name = plan.name,
                                    .cores = plan.cores,
                                    .cluster = cluster ? &cluster->task : nullptr,
                                    .arguments = arguments,
                                    .options = options,
                                    .counter = plan.cores == Cores::none ? plan.counter : nullptr,
                                    .expected = plan.expected,
                                    .where = task.where}));
  }
  graph.set_edges(around);
}

}  // namespace baton::chip
