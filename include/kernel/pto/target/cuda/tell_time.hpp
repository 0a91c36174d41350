// The clock of a GPU, for the host to compare it with its own.
#pragma once

#include <pto/target/cuda/timing.hpp>

namespace baton::cuda {

/// Answers as soon as it is asked. One thread of a warp; a template, as run_graph().
template <int>
__global__ void tell_time(ClockWords* words) {
  if (threadIdx.x != 0) return;
  uint64_t since = now_ns();
  for (uint32_t question = 1; question <= kClockQuestions; ++question) {
    // Pairs with the host's release of the question.
    while (__nv_atomic_load_n(&words->asked, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM) < question) {
      if (now_ns() - since > kClockPatienceNs) return;
    }
    since = now_ns();
    __nv_atomic_store_n(&words->gpu_ns, since, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    // Releases the answer.
    __nv_atomic_store_n(&words->answered, question, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
  }
}
template __global__ void tell_time<0>(ClockWords* words);

}  // namespace baton::cuda
