#include "chip/orchestration/argument_dumps.hpp"

#include <array>

#include <fmt/format.h>

#include "chip/orchestration/tensors.hpp"

namespace baton::orchestration {
namespace {

bool is_read(BatonTensorUse use) { return use == BATON_USE_INPUT || use == BATON_USE_INOUT; }

std::string kernels_of(const BatonTaskRequest& asked) {
  switch (asked.kind) {
    case BATON_TASK_VECTOR:
    case BATON_TASK_CUBE: return fmt::format("kernel{}", asked.kernels[0]);
    case BATON_TASK_CLUSTER: {
      std::string names;
      for (const std::int32_t kernel : asked.kernels) {
        if (kernel >= 0) names += fmt::format("{}{}", names.empty() ? "kernel" : "_", kernel);
      }
      return names;
    }
    case BATON_TASK_EMPTY:
    case BATON_TASK_ALLOCATE:
    case BATON_TASK_GRAPH: break;
  }
  return "no_kernel";
}

}  // namespace

ArgumentDumps::ArgumentDumps(Graph& graph, const BatonTaskRequest& asked) : graph_(graph), asked_(asked) {
  if (!graph.dumps()) return;
  wanted_ = asked.dumped_scalars != 0;
  for (std::uint32_t i = 0; i < asked.tensor_count; ++i) wanted_ = wanted_ || asked.tensors[i].dump != 0;
}

std::string ArgumentDumps::name_of(const char* kind, std::uint32_t number, const char* moment) const {
  return fmt::format("{}.{}{}{}", kernels_of(asked_), kind, number, moment);
}

void ArgumentDumps::before(std::vector<TaskId>& after) {
  const Place where{asked_.where.file, asked_.where.line};
  std::vector<TaskId> waits = after;
  TaskId last = 0;
  const auto dump = [&](const baton::Tensor& tensor, const std::string& name) {
    last = graph_.dump(tensor, name, waits, where);
    waits = {last};
  };
  for (std::uint32_t i = 0; i < asked_.tensor_count; ++i) {
    const BatonTensorArgument& argument = asked_.tensors[i];
    if (argument.dump == 0 || !is_read(argument.use)) continue;
    const auto& descriptor = *static_cast<const ChipTensor*>(argument.object);
    const baton::Tensor tensor = tensor_of(descriptor);
    if (tensor.buffer().space == MemorySpace::token) continue;
    if (descriptor.manual_dep != 0 && descriptor.owner_task_id.is_valid()) {
      waits.push_back(descriptor.owner_task_id.raw);
    }
    dump(tensor, name_of("tensor", i, ".before"));
  }
  for (std::uint32_t i = 0; i < asked_.scalar_count; ++i) {
    if ((asked_.dumped_scalars >> i & 1U) == 0) continue;
    constexpr std::array<std::int64_t, 1> kOne = {1};
    dump(graph_.filled_output(DType::uint64, kOne, asked_.scalars + i, where), name_of("scalar", i, ""));
  }
  if (last != 0) after.push_back(last);
}

TaskId ArgumentDumps::after(TaskId task, std::span<const Tensor> tensors) {
  for (std::uint32_t i = 0; i < asked_.tensor_count; ++i) {
    const BatonTensorArgument& argument = asked_.tensors[i];
    if (argument.dump == 0 || argument.use == BATON_USE_INPUT) continue;
    if (tensors[i].buffer().space == MemorySpace::token) continue;
    const std::array<TaskId, 1> waits = {task};
    task = graph_.dump(tensors[i], name_of("tensor", i, ".after"), waits, {asked_.where.file, asked_.where.line});
  }
  return task;
}

}  // namespace baton::orchestration
