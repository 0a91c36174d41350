#include "platform/ascend/graph.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <intrinsic.h>

#include "platform/ascend/conditions.hpp"
#include "platform/ascend/graph_run.hpp"
#include "platform/shared/descriptor.hpp"

namespace baton::ascend {
namespace {

/// More the launch of a kernel does not take.
constexpr std::uint32_t kMostBlocks = 65535;

/// What a kernel's entry finds for its block: `kernel_entry(args + kSlotsOfBlock * block)`, as the generated one calls
/// it.
struct ArgumentBlock {
  std::int64_t slots[PTO_GLOBAL_CONTEXT_INDEX + 1];
  LocalContext local;
  GlobalContext global;
  std::int64_t address;  // of the kernel, for a core of a cluster
  std::int64_t unused[4];
};
static_assert(sizeof(ArgumentBlock) == kBytesOfArguments && kBytesOfArguments == 512,
              "the generated entries of kernels know this number");
static_assert(offsetof(ArgumentBlock, address) == 59 * sizeof(std::int64_t), "so does what calls kernels of clusters");

template <class Record>
void append(std::vector<std::byte>& bytes, const Record& record) {
  const auto* begin = reinterpret_cast<const std::byte*>(&record);
  bytes.insert(bytes.end(), begin, begin + sizeof record);
}

}  // namespace

GraphTask Graph::described(const BatonDeviceTask& task) {
  GraphTask out;
  std::array<LoadedKernel*, kCoresOfCluster> kernels{};
  static_assert(kCoresOfCluster == BATON_TASK_KERNELS);
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i] = reinterpret_cast<LoadedKernel*>(task.kernels[i]);
  out.kernel = task.cores == BATON_TASK_CLUSTER ? npu_.kernels().cluster(kernels) : kernels[0];
  out.blocks = std::max<std::uint32_t>(task.blocks, 1);
  out.flags = task.flags;
  out.priority = task.priority;
  out.comparison = task.comparison;
  out.dtype = task.dtype;
  out.address = task.address;
  out.value = task.value;
  if (out.kernel != nullptr && out.blocks > kMostBlocks) {
    throw Error(Code::out_of_range, fmt::format("kernel '{}' has {} blocks; at most {} are possible", out.kernel->name,
                                                out.blocks, kMostBlocks));
  }
  for (const BatonDeviceArgument& argument : std::span(task.arguments, task.argument_count)) {
    if (argument.access == BATON_ARGUMENT_SCALAR) {
      out.scalars.push_back(static_cast<std::int64_t>(argument.address));
    } else {
      out.tensors.push_back(argument);
    }
  }
  if (out.tensors.size() + out.scalars.size() > PTO_LOCAL_CONTEXT_INDEX) {
    throw Error(Code::out_of_range, fmt::format("a task has {} arguments; at most {} are possible",
                                                out.tensors.size() + out.scalars.size(), +PTO_LOCAL_CONTEXT_INDEX));
  }
  platforms::refuse_queue_without_scalar(out.flags, out.scalars.size());
  return out;
}

Graph::Graph(Npu& npu, std::span<const BatonDeviceTask> tasks, const std::uint64_t* first_predecessor,
             const std::uint32_t* predecessors)
    : npu_(npu) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks_.push_back(described(tasks[i]));
    tasks_.back().before.assign(predecessors + first_predecessor[i], predecessors + first_predecessor[i + 1]);
    for (const std::uint32_t earlier : tasks_.back().before)
      tasks_[earlier].after.push_back(static_cast<std::uint32_t>(i));
  }
}

Graph::~Graph() {
  try {
    close();
  } catch (const Error&) {  // told by close(), where somebody asks
  }
}

void Graph::close() {
  if (memory_ == 0 || npu_.is_lost()) return;
  npu_.make_current();
  npu_.free(std::exchange(memory_, 0));
}

void Graph::set(std::size_t task, const BatonDeviceTask& changed) {
  GraphTask next = described(changed);
  next.before = std::move(tasks_.at(task).before);
  next.after = std::move(tasks_[task].after);
  tasks_[task] = std::move(next);
  uploaded_ = false;
}

void Graph::upload() {
  // All descriptors of tensors, then the arguments of each block, then the conditions of those that may leave some.
  std::vector<std::byte> bytes;
  for (const GraphTask& task : tasks_) {
    for (const BatonDeviceArgument& tensor : task.tensors) append(bytes, platforms::tensor_of(tensor));
  }
  std::size_t parts = 0;
  std::size_t deferring_parts = 0;
  for (const GraphTask& task : tasks_) {
    parts += task.parts();
    deferring_parts += task.may_defer() ? task.parts() : 0;
  }
  constexpr std::size_t kLine = alignof(ConditionBlock);
  const std::size_t conditions_at = (bytes.size() + parts * sizeof(ArgumentBlock) + kLine - 1) / kLine * kLine;
  conditions_bytes_ = deferring_parts * sizeof(ConditionBlock);
  const std::size_t needed = conditions_at + conditions_bytes_;
  if (needed > memory_bytes_) {
    if (memory_ != 0) npu_.free(std::exchange(memory_, 0));
    memory_bytes_ = 0;
    memory_ = npu_.alloc(needed);
    memory_bytes_ = needed;
  }
  conditions_ = memory_ + conditions_at;
  std::uint64_t conditions = conditions_;
  std::uint64_t tensor = memory_;
  for (GraphTask& task : tasks_) {
    ArgumentBlock block{};
    std::size_t slot = 0;
    for (std::size_t i = 0; i < task.tensors.size(); ++i, tensor += sizeof(ChipTensor)) {
      block.slots[slot++] = static_cast<std::int64_t>(tensor);
    }
    for (const std::int64_t scalar : task.scalars) block.slots[slot++] = scalar;
    block.local.block_num = static_cast<std::int32_t>(task.blocks);
    task.arguments = memory_ + bytes.size();
    task.conditions = task.may_defer() ? conditions : 0;
    for (std::uint32_t i = 0; i < task.parts(); ++i) {
      const std::uint64_t at = memory_ + bytes.size();
      const std::size_t core = task.kernel->cores ? i % kCoresOfCluster : 0;
      block.local.block_idx = static_cast<std::int32_t>(task.kernel->cores ? i / kCoresOfCluster : i);
      block.global.sub_block_id = core == 2 ? 1 : 0;
      block.address = task.kernel->cores ? static_cast<std::int64_t>((*task.kernel->cores)[core]) : 0;
      block.local.async_ctx = context_of(task.may_defer() ? conditions : 0);
      if ((task.flags & BATON_TASK_QUEUE) != 0) {
        block.slots[slot - 1] = static_cast<std::int64_t>(conditions + offsetof(ConditionBlock, queue));
      }
      if (task.may_defer()) conditions += sizeof(ConditionBlock);
      block.slots[PTO_LOCAL_CONTEXT_INDEX] = static_cast<std::int64_t>(at + offsetof(ArgumentBlock, local));
      block.slots[PTO_GLOBAL_CONTEXT_INDEX] = static_cast<std::int64_t>(at + offsetof(ArgumentBlock, global));
      append(bytes, block);
    }
  }
  npu_.copy_in(memory_, bytes.data(), bytes.size());
  uploaded_ = true;
}

void Graph::run(const BatonRunOptions& options, std::uint32_t& failed_task) {
  failed_task = BATON_NO_TASK;
  npu_.make_current();
  if (!uploaded_) upload();
  if (conditions_bytes_ != 0) npu_.clear(conditions_, conditions_bytes_);
  GraphRun(npu_, tasks_, options, failed_task).all();
}

}  // namespace baton::ascend
