#include "chip/orchestration/run.hpp"

#include <array>
#include <cstring>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "chip/orchestration/argument_dumps.hpp"
#include "chip/orchestration/failure.hpp"
#include "chip/orchestration/tensors.hpp"

namespace baton::orchestration {
namespace {

/// Calls of orchestrations that this thread is in. Fibers stay on their threads; each has a word of its own, whose
/// address tells them apart.
struct Entered {
  const void* fiber;
  Run* run;
};
thread_local std::vector<Entered> entered;

/// Blocks times the cores of each.
constexpr std::int64_t kMostCores = 32767;

std::int64_t cores_per_block(const BatonTaskRequest& asked) {
  if (asked.kind != BATON_TASK_CLUSTER) return 1;
  std::int64_t cores = 0;
  for (const std::int32_t kernel : asked.kernels) cores += kernel >= 0 ? 1 : 0;
  return cores;
}

Access access_of(BatonTensorUse use) {
  switch (use) {
    case BATON_USE_INPUT: return Access::in;
    case BATON_USE_INOUT: return Access::inout;
    case BATON_USE_OUTPUT:
    case BATON_USE_CREATE: return Access::out;
  }
  return Access::inout;
}

WaitCmp comparison_of(BatonPredicateOp op) {
  switch (op) {
    case BATON_PREDICATE_NONE: break;
    case BATON_PREDICATE_EQ: return WaitCmp::eq;
    case BATON_PREDICATE_NE: return WaitCmp::ne;
    case BATON_PREDICATE_GT: return WaitCmp::gt;
    case BATON_PREDICATE_LT: return WaitCmp::lt;
    case BATON_PREDICATE_GE: return WaitCmp::ge;
    case BATON_PREDICATE_LE: return WaitCmp::le;
  }
  baton::fail(Code::invalid_argument, "there is no comparison {}", static_cast<std::uint32_t>(op));
}

baton::Tensor element_of(const ChipTensor& tensor, std::span<const std::uint32_t> position) {
  if (position.size() != tensor.ndims) {
    baton::fail(Code::invalid_argument, "{} indices name no element of a tensor of {} dimensions", position.size(),
                tensor.ndims);
  }
  baton::Tensor at = tensor_of(tensor);
  for (const std::uint32_t index : position) at = at.select(0, index);
  return at;
}

baton::Tensor create(Graph& graph, const BatonCreateInfo& info, Place where) {
  if (info.ndims < 1 || info.ndims > kMaxDims) {
    baton::fail(Code::invalid_argument, "an output of {} dimensions; it has 1 to {}", info.ndims, kMaxDims);
  }
  std::array<std::int64_t, kMaxDims> shape{};
  for (std::size_t i = 0; i < info.ndims; ++i) shape[i] = info.shapes[i];
  const auto dtype = static_cast<DType>(info.dtype);
  const std::span<const std::int64_t> extents(shape.data(), info.ndims);
  if (!info.has_initial_value) return graph.output(dtype, extents, where);
  return graph.filled_output(dtype, extents, &info.initial_value, where);
}

Place place_of(const BatonTaskRequest& asked) { return {asked.where.file, asked.where.line}; }

}  // namespace

Run::Run(Graph& graph, const Program& program) : graph_(graph), program_(program) {
  entered.push_back({&fiber_local(), this});
}

Run::~Run() {
  std::erase_if(entered, [this](const Entered& one) { return one.run == this; });
  while (!scopes_.empty()) scopes_.pop_back();
}

Run& Run::current() {
  const void* fiber = &fiber_local();
  for (const Entered& one : entered) {
    if (one.fiber == fiber) return *one.run;
  }
  baton::fail(Code::invalid_argument, "a function of the orchestration API was called outside of an orchestration");
}

void Run::check(const BatonTaskRequest& asked) const {
  if (asked.error != nullptr) baton::fail(Code::invalid_argument, "{}", asked.error);
  if (asked.kind == BATON_TASK_EMPTY || asked.kind == BATON_TASK_ALLOCATE) return;
  if (asked.blocks < 1) baton::fail(Code::invalid_argument, "{} blocks; a task has at least 1", asked.blocks);
  const std::int64_t cores = asked.blocks * cores_per_block(asked);
  if (cores > kMostCores) {
    baton::fail(Code::invalid_argument, "{} blocks of {} cores; blocks times cores are at most {}", asked.blocks,
                cores_per_block(asked), kMostCores);
  }
  if (asked.start_together != 0 && asked.blocks > 1) check_start(asked);
}

void Run::check_start(const BatonTaskRequest& asked) const {
  const int room = asked.kind == BATON_TASK_VECTOR ? graph_.vector_cores() : graph_.clusters();
  if (asked.blocks <= room) return;
  throw failure(PTO2_ERROR_REQUIRE_SYNC_START_INVALID,
                fmt::format("{} blocks are to start together, and there are {} {}", asked.blocks, room,
                            asked.kind == BATON_TASK_VECTOR ? "vector cores" : "clusters"),
                fmt::format("{}:{}", asked.where.file, asked.where.line));
}

const Kernel& Run::kernel(std::int32_t id, BatonCoreType core) const {
  const Kernel* found = program_.kernel(id);
  if (found == nullptr) {
    baton::fail(Code::invalid_argument, "there is no kernel with the number {}; there are {}", id,
                program_.kernel_numbers());
  }
  if (found->core != core) {
    baton::fail(Code::invalid_argument,
                "the kernel with the number {} is for a {} core, and was submitted to a {} core", id,
                found->core == BATON_CORE_CUBE ? "cube" : "vector", core == BATON_CORE_CUBE ? "cube" : "vector");
  }
  return *found;
}

TaskOptions Run::options_of(const BatonTaskRequest& asked) {
  TaskOptions options;
  if (asked.kind != BATON_TASK_EMPTY && asked.kind != BATON_TASK_ALLOCATE) {
    options.blocks = static_cast<std::uint32_t>(asked.blocks);
    options.start_together = asked.start_together != 0 && asked.blocks > 1;
  }
  options.completion_queue = asked.completion_queue != 0;
  for (std::uint32_t i = 0; i < asked.after_count; ++i) {
    // "No task" is nobody to wait for.
    if (asked.after[i].is_valid()) options.after.push_back(asked.after[i].raw);
  }
  if (asked.predicate != nullptr) {
    const BatonPredicate& predicate = *asked.predicate;
    if (predicate.tensor == nullptr) baton::fail(Code::invalid_argument, "a predicate without a tensor");
    options.only_if = Predicate{element_of(*predicate.tensor, {predicate.indices, predicate.ndims}),
                                comparison_of(predicate.op), predicate.target};
  }
  return options;
}

PTO2TaskId Run::submit(const BatonTaskRequest& asked, ChipTensor* outputs) {
  check(asked);
  TaskOptions options = options_of(asked);
  const Place where = place_of(asked);
  ArgumentDumps dumps(graph_, asked);
  if (dumps.wanted()) dumps.before(options.after);
  std::array<baton::Tensor, 32> tensors;
  std::vector<Argument> arguments;
  arguments.reserve(asked.tensor_count + asked.scalar_count);
  std::uint32_t created = 0;
  std::array<bool, 32> only_creator{};
  for (std::uint32_t i = 0; i < asked.tensor_count; ++i) {
    const BatonTensorArgument& argument = asked.tensors[i];
    Access access = access_of(argument.use);
    if (argument.use == BATON_USE_CREATE) {
      const auto& info = *static_cast<const BatonCreateInfo*>(argument.object);
      tensors.at(i) = create(graph_, info, where);
      only_creator.at(created) = info.manual_dep;
      outputs[created++] = descriptor_of(tensors.at(i));
    } else {
      const auto& tensor = *static_cast<const ChipTensor*>(argument.object);
      tensors.at(i) = tensor_of(tensor);
      if (tensor.manual_dep != 0) {
        access = Access::no_dependency;
        if (edges() == Edges::inferred && tensor.owner_task_id.is_valid()) {
          options.after.push_back(tensor.owner_task_id.raw);
        }
      }
    }
    arguments.emplace_back(access, tensors.at(i));
  }
  for (std::uint32_t i = 0; i < asked.scalar_count; ++i) {
    arguments.emplace_back(static_cast<std::int64_t>(asked.scalars[i]));
  }
  PTO2TaskId task{submit_kernels(asked, arguments, options)};
  if (dumps.wanted()) task.raw = dumps.after(task.raw, tensors);
  for (std::uint32_t i = 0; i < created; ++i) {
    outputs[i].owner_task_id = task;
    outputs[i].manual_dep = only_creator.at(i) ? 1 : 0;
  }
  return task;
}

TaskId Run::submit_kernels(const BatonTaskRequest& asked, std::span<const Argument> arguments,
                           const TaskOptions& options) {
  const Place where = place_of(asked);
  switch (asked.kind) {
    case BATON_TASK_VECTOR:
      return graph_.submit_arguments(kernel(asked.kernels[0], BATON_CORE_VECTOR), arguments, options, where);
    case BATON_TASK_CUBE:
      return graph_.submit_arguments(kernel(asked.kernels[0], BATON_CORE_CUBE), arguments, options, where);
    case BATON_TASK_CLUSTER: {
      const auto at = [&](int place, BatonCoreType core) {
        return asked.kernels[place] < 0 ? nullptr : &kernel(asked.kernels[place], core);
      };
      const ClusterTask kernels{.cube = at(0, BATON_CORE_CUBE),
                                .vector = {at(1, BATON_CORE_VECTOR), at(2, BATON_CORE_VECTOR)}};
      return graph_.submit(kernels, arguments, options, where);
    }
    case BATON_TASK_EMPTY:
    case BATON_TASK_ALLOCATE:
    case BATON_TASK_GRAPH: break;
  }
  TaskOptions edges_only = options;
  edges_only.only_if.reset();
  return graph_.submit_empty(arguments, edges_only, where);
}

void Run::open_graph(const BatonTaskRequest& asked) {
  if (asked.error != nullptr) baton::fail(Code::invalid_argument, "{}", asked.error);
  if (asked.tensor_count == 0) baton::fail(Code::invalid_argument, "a graph that is submitted takes a tensor at least");
  if (asked.after_count != 0) baton::fail(Code::invalid_argument, "a graph that is submitted names no tasks");
  for (std::uint32_t i = 0; i < asked.tensor_count; ++i) {
    if (asked.tensors[i].use == BATON_USE_CREATE) {
      baton::fail(Code::invalid_argument,
                  "argument {} of a graph that is submitted is to be created; allocate it before", i);
    }
  }
  const Place where = place_of(asked);
  // Its tasks are ordered by their tensors, whatever holds around it.
  scopes_.push_back({graph_.scope(Edges::inferred, where), Edges::inferred, true});
}

void Run::close_graph() {
  while (!scopes_.empty() && !scopes_.back().of_graph) scopes_.pop_back();
  if (!scopes_.empty()) scopes_.pop_back();
}

std::uint64_t Run::get(const ChipTensor& tensor, std::span<const std::uint32_t> position) {
  const baton::Tensor at = element_of(tensor, position);
  // What a task of a manual scope wrote is found by its creator only.
  if (tensor.owner_task_id.is_valid() && edges() == Edges::named) graph_.wait(tensor.owner_task_id.raw);
  std::uint64_t bits = 0;
  graph_.get_element(at, at.dtype(), {}, &bits);
  return bits;
}

void Run::set(const ChipTensor& tensor, std::span<const std::uint32_t> position, std::uint64_t bits) {
  const baton::Tensor at = element_of(tensor, position);
  if (tensor.owner_task_id.is_valid() && edges() == Edges::named) graph_.wait(tensor.owner_task_id.raw);
  graph_.set_element(at, at.dtype(), {}, &bits);
}

void Run::open_scope(Edges edges_inside, Place where) {
  if (edges_inside == Edges::inferred && edges() == Edges::named) {
    baton::fail(Code::invalid_argument,
                "an AUTO scope inside of a MANUAL one: what tasks of that one use is not known");
  }
  scopes_.push_back({graph_.scope(edges_inside, where), edges_inside, false});
}

void Run::close_scope() {
  if (scopes_.empty() || scopes_.back().of_graph) {
    baton::fail(Code::invalid_argument, "rt_scope_end: no scope was begun here");
  }
  scopes_.pop_back();
}

PTO2TaskId Run::notification_wait(std::uint64_t counter, std::int32_t expected, ChipTensor& token, Place where) {
  token =
      descriptor_of(graph_.submit_notification_wait(reinterpret_cast<const std::int32_t*>(counter), expected, where));
  return PTO2TaskId::invalid();
}

}  // namespace baton::orchestration
