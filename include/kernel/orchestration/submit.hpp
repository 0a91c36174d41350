// Submitting tasks, and what they give back.
#ifndef BATON_ORCHESTRATION_SUBMIT_HPP
#define BATON_ORCHESTRATION_SUBMIT_HPP

#include <orchestration/task_args.hpp>

enum : int32_t { INVALID_KERNEL_ID = -1 };

/// The kernels of the three cores of a cluster.
struct MixedKernels {
  int32_t aic_kernel_id = INVALID_KERNEL_ID;
  int32_t aiv0_kernel_id = INVALID_KERNEL_ID;
  int32_t aiv1_kernel_id = INVALID_KERNEL_ID;
};

/// The tensors that a task created, in the order in which they were added. They end with the scope of the submission.
class TaskOutputTensors {
 public:
  enum : uint32_t { kMost = 32 };

  TaskOutputTensors() = default;
  TaskOutputTensors(const TaskOutputTensors& other) { *this = other; }
  TaskOutputTensors& operator=(const TaskOutputTensors& other) {
    task_ = other.task_;
    count_ = other.count_;
    memcpy(tensors_, other.tensors_, count_ * sizeof(ChipTensor));
    return *this;
  }

  /// Number `i` of those that were created. Not const: authors bind it to either kind of reference.
  ChipTensor& get_ref(uint32_t i, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) const& {
    static ChipTensor nothing{};
    if (i < count_) return *reinterpret_cast<ChipTensor*>(const_cast<unsigned char*>(tensors_) + i * sizeof nothing);
    baton::orchestration::report(PTO2_ERROR_INVALID_ARGS, {file, line}, "output %u was asked for; the task has %u", i,
                                 count_);
    return nothing;
  }
  ChipTensor& get_ref(uint32_t i, const char* file = __builtin_FILE(),
                      uint32_t line = __builtin_LINE()) const&& = delete;
  PTO2TaskId task_id() const { return task_; }
  uint32_t size() const { return count_; }

  /// Of a task that was asked for. What it creates, it creates here.
  explicit TaskOutputTensors(const BatonTaskRequest& asked) {
    uint32_t created = 0;
    for (uint32_t i = 0; i < asked.tensor_count; ++i) created += asked.tensors[i].use == BATON_USE_CREATE ? 1U : 0U;
    if (created > kMost) {
      baton::orchestration::report(PTO2_ERROR_INVALID_ARGS, asked.where, "%u outputs; a task creates at most %u",
                                   created, static_cast<uint32_t>(kMost));
      return;
    }
    task_ = baton::orchestration::runtime().submit(&asked, reinterpret_cast<ChipTensor*>(tensors_));
    if (task_.is_valid()) count_ = created;
  }

 private:
  PTO2TaskId task_;
  uint32_t count_ = 0;
  alignas(ChipTensor) unsigned char tensors_[kMost * sizeof(ChipTensor)];
};

/// What is submitted as CoreTaskArgs: other classes of arguments add an overload.
inline const CoreTaskArgs& core_task_args(const CoreTaskArgs& args) { return args; }

namespace baton::orchestration {

template <typename Args>
TaskOutputTensors submit(const Args& args, BatonTaskKind kind, const MixedKernels& kernels, BatonPlaceInSource where) {
  BatonPredicate predicate;
  BatonTaskRequest asked = core_task_args(args).request(kind, predicate, where);
  asked.kernels[0] = kernels.aic_kernel_id;
  asked.kernels[1] = kernels.aiv0_kernel_id;
  asked.kernels[2] = kernels.aiv1_kernel_id;
  return TaskOutputTensors(asked);
}

inline TaskOutputTensors allocate(const TensorCreateInfo* const* infos, uint32_t count, BatonPlaceInSource where) {
  CoreTaskArgs args;
  for (uint32_t i = 0; i < count; ++i) args.add_output(*infos[i]);
  return submit(args, BATON_TASK_ALLOCATE, {}, where);
}

/// The first of several, and where they were written.
struct CreateInfoAt {
  CreateInfoAt(const TensorCreateInfo& first, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE())
      : info(first), where{file, line} {}
  const TensorCreateInfo& info;
  BatonPlaceInSource where;
};

}  // namespace baton::orchestration

template <typename Args>
TaskOutputTensors rt_submit_aiv_task(int32_t kernel_id, const Args& args, const char* file = __builtin_FILE(),
                                     uint32_t line = __builtin_LINE()) {
  return baton::orchestration::submit(args, BATON_TASK_VECTOR, {kernel_id}, {file, line});
}
template <typename Args>
TaskOutputTensors rt_submit_aic_task(int32_t kernel_id, const Args& args, const char* file = __builtin_FILE(),
                                     uint32_t line = __builtin_LINE()) {
  return baton::orchestration::submit(args, BATON_TASK_CUBE, {kernel_id}, {file, line});
}
/// One cluster for each block; all its cores get the same arguments.
template <typename Args>
TaskOutputTensors rt_submit_task(const MixedKernels& kernels, const Args& args, const char* file = __builtin_FILE(),
                                 uint32_t line = __builtin_LINE()) {
  return baton::orchestration::submit(args, BATON_TASK_CLUSTER, kernels, {file, line});
}
/// Edges and outputs, no kernel.
template <typename Args>
TaskOutputTensors rt_submit_dummy_task(const Args& args, const char* file = __builtin_FILE(),
                                       uint32_t line = __builtin_LINE()) {
  return baton::orchestration::submit(args, BATON_TASK_EMPTY, {}, {file, line});
}

template <typename... More>
TaskOutputTensors alloc_tensors(baton::orchestration::CreateInfoAt first, const More&... more) {
  static_assert((std::is_same_v<More, TensorCreateInfo> && ...), "alloc_tensors() takes what is to be created");
  const TensorCreateInfo* infos[] = {&first.info, &more...};
  return baton::orchestration::allocate(infos, 1 + sizeof...(More), first.where);
}
inline TaskOutputTensors alloc_tensors(const TensorCreateInfo infos[], uint32_t count,
                                       const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
  CoreTaskArgs args;
  for (uint32_t i = 0; i < count; ++i) args.add_output(infos[i]);
  return baton::orchestration::submit(args, BATON_TASK_ALLOCATE, {}, {file, line});
}
inline TaskOutputTensors alloc_tensors(const CoreTaskArgs& args, const char* file = __builtin_FILE(),
                                       uint32_t line = __builtin_LINE()) {
  return baton::orchestration::submit(args, BATON_TASK_ALLOCATE, {}, {file, line});
}

#endif
