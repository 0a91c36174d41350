// From a submission to the plan of its task: what is checked, and what is written.
#include "chip/runtime/graph_state.hpp"

#include <string>

#include <tensor.h>

#include "base/fail.hpp"
#include "chip/cores/kernel_call.hpp"
#include "chip/graph/chip_tensor.hpp"

namespace baton::chip {
namespace {

std::string describe(const Submission& submission) {
  return *submission.name == '\0' ? "a task without a kernel" : submission.name;
}

bool is_integer(DType dtype) { return dtype != DType::float32 && dtype != DType::float16 && dtype != DType::bfloat16; }

}  // namespace

void GraphState::check(const Submission& submission) const {
  const TaskOptions& options = submission.options;
  if (submission.arguments.size() > kKernelArguments) {
    fail(Code::invalid_argument, "{}: {} arguments; a kernel takes at most {}", describe(submission),
         submission.arguments.size(), kKernelArguments);
  }
  if (options.blocks == 0) fail(Code::invalid_argument, "{}: 0 blocks would never run", describe(submission));
  if (options.start_together) {
    const int per_cluster = submission.cores == Cores::vector ? kVectorsPerCluster : 1;
    const auto cores = static_cast<std::uint32_t>(clusters() * per_cluster);
    if (options.blocks > cores) {
      fail(Code::invalid_argument, "{}: {} blocks cannot start together on {} cores", describe(submission),
           options.blocks, cores);
    }
  }
  if (options.only_if) check_predicate(submission);
  if (options.completion_queue && !parts_.device->has_completion_queues()) {
    fail(Code::unsupported, "{}: chips of this platform have no completion queues", describe(submission));
  }
  if (options.completion_queue && submission.arguments.size() == kKernelArguments) {
    fail(Code::invalid_argument, "{}: {} arguments leave no room for the completion queue; a kernel takes {}",
         describe(submission), submission.arguments.size(), kKernelArguments);
  }
  if (options.completion_queue && (submission.cores == Cores::none || submission.cores == Cores::cluster)) {
    fail(Code::invalid_argument, "{}: a completion queue is for the kernel of one core", describe(submission));
  }
  for (const TaskId earlier : options.after) {
    if (earlier == 0 || earlier > newest()) {
      fail(Code::invalid_argument, "{}: there is no task {} to wait for", describe(submission), earlier);
    }
  }
}

void GraphState::check_predicate(const Submission& submission) const {
  const Tensor& element = submission.options.only_if->element;
  if (element.element_count() != 1 || !is_integer(element.dtype()) || element.buffer().space != MemorySpace::host) {
    fail(Code::invalid_argument, "{}: whether it runs depends on one element of an integer type, not on {}",
         describe(submission), element.describe());
  }
  // A core reads it, whatever edges there are.
  if (!parts_.memory.known(reinterpret_cast<const void*>(element.address()), size_of(element.dtype()))) {
    fail(Situation::not_chip_memory,
         "{}: what decides whether it runs, {}, is not memory of this chip, or was freed before", describe(submission),
         element.describe());
  }
}

TaskExtra* GraphState::extra_of(const Submission& submission) {
  const TaskOptions& options = submission.options;
  if (!options.only_if && !options.completion_queue) return nullptr;
  auto* extra = new (arena().take(sizeof(TaskExtra))) TaskExtra;
  extra->completion_queue = options.completion_queue;
  if (options.only_if) {
    extra->has_predicate = true;
    extra->comparison = options.only_if->comparison;
    extra->value = options.only_if->value;
    extra->element = new (arena().take(sizeof(ChipTensor))) ChipTensor(graph::to_chip_tensor(options.only_if->element));
  }
  return extra;
}

void GraphState::make_empty(Task& task) {
  task.plan = {};
  task.plan.cores = Cores::none;
}

void GraphState::fill(Task& task, const Submission& submission) {
  task_is_recorded_ = false;
  TaskPlan& plan = task.plan;
  plan.entry = submission.entry;
  plan.name = submission.name;
  plan.cores = submission.cores;
  plan.blocks = submission.options.blocks;
  plan.start = submission.options.start_together ? BlockStart::together : BlockStart::separate;
  plan.priority = submission.options.priority;
  task.where = submission.where;
  if (submission.cores == Cores::none) {
    plan.counter = submission.counter;
  } else {
    plan.extra = extra_of(submission);
  }
  plan.expected = submission.expected;
  if (submission.cluster != nullptr) {
    auto* kernels = new (arena().take(sizeof(ClusterKernels))) ClusterKernels;
    const auto set = [&](std::size_t place, const Kernel* kernel) {
      if (kernel == nullptr) return;
      kernels->entry[place] = kernel->function;
      kernels->name[place] = kernel->name;
    };
    set(0, submission.cluster->cube);
    set(1, submission.cluster->vector[0]);
    set(2, submission.cluster->vector[1]);
    plan.cluster = kernels;
  }
  const std::size_t count = submission.arguments.size() + (submission.options.completion_queue ? 1 : 0);
  if (count == 0) return;
  std::size_t tensors = 0;
  for (const Argument& argument : submission.arguments) tensors += argument.tensor() == nullptr ? 0U : 1U;
  // Descriptors first: they are aligned to more than slots are.
  const bool inline_args = count <= Task::kInlineArguments;
  const std::size_t slots = inline_args ? 0 : count;
  auto* memory = static_cast<std::byte*>(arena().take(tensors * sizeof(ChipTensor) + slots * sizeof(std::int64_t)));
  auto* descriptors = reinterpret_cast<ChipTensor*>(memory);
  plan.args =
      inline_args ? task.inline_args.data() : reinterpret_cast<std::int64_t*>(memory + tensors * sizeof(ChipTensor));
  plan.arg_count = static_cast<std::uint32_t>(count);
  plan.tensor_count = static_cast<std::uint32_t>(tensors);
  std::size_t tensor = 0;
  std::size_t scalar = tensors;
  for (const Argument& argument : submission.arguments) {
    if (argument.tensor() == nullptr) {
      plan.args[scalar++] = argument.slot();
      continue;
    }
    ChipTensor* descriptor = new (descriptors + tensor) ChipTensor(graph::to_chip_tensor(*argument.tensor()));
    plan.args[tensor++] = reinterpret_cast<std::int64_t>(descriptor);
  }
}

void GraphState::remember(const Task& task, const Submission& submission) {
  std::size_t tensor = 0;
  for (const Argument& argument : submission.arguments) {
    if (argument.tensor() == nullptr) continue;
    capture_->add_descriptor(*argument.tensor(), argument.access(),
                             *reinterpret_cast<ChipTensor*>(task.plan.args[tensor++]));
  }
  capture_->add_submission(submission.arguments, edges_);
  if (const TaskExtra* extra = task.plan.extras(); extra != nullptr && extra->has_predicate) {
    capture_->add_descriptor(submission.options.only_if->element, Access::in, *extra->element);
  }
}

}  // namespace baton::chip
