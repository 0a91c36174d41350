// The older names around completion: tasks with a completion queue, and waits for notifications.
#ifndef BATON_ORCHESTRATION_DEFERRED_HPP
#define BATON_ORCHESTRATION_DEFERRED_HPP

#include <orchestration/submit.hpp>

/// The address of the DMA engine's workspace, for kernels; 0 if there is none.
inline uint64_t pto2_rt_get_sdma_context() { return baton::orchestration::runtime().dma_workspace(); }

/// Names a completion queue for pto2_rt_submit_aiv_task_deferred(). Every running kernel has one of its own, so there
/// is nothing to allocate, and one name does for all tasks.
inline uint64_t pto2_rt_alloc_cq() { return 1; }

/// The kernel gets the address of its completion queue as last scalar; the task is complete when the conditions hold
/// that the kernel put into it.
template <typename Args>
TaskOutputTensors pto2_rt_submit_aiv_task_deferred(int32_t kernel_id, const Args& args, uint64_t queue,
                                                   const char* file = __builtin_FILE(),
                                                   uint32_t line = __builtin_LINE()) {
  BatonPredicate predicate;
  BatonTaskRequest asked = core_task_args(args).request(BATON_TASK_VECTOR, predicate, {file, line});
  asked.kernels[0] = kernel_id;
  asked.completion_queue = 1;
  if (queue == 0 && asked.error == nullptr) asked.error = "there is no completion queue 0";
  return TaskOutputTensors(asked);
}

/// A token: a task that takes it as an input waits until the counter has reached `expected`.
inline ChipTensor pto2_rt_submit_notification_wait_task(uint64_t counter, int32_t expected,
                                                        const char* file = __builtin_FILE(),
                                                        uint32_t line = __builtin_LINE()) {
  ChipTensor token{};
  baton::orchestration::runtime().notification_wait(counter, expected, &token, {file, line});
  return token;
}

#endif
