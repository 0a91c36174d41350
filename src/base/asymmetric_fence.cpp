#include "base/asymmetric_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace baton {
namespace {

std::atomic<int> fence_word{0};

bool register_membarrier() noexcept {
#if defined(BATON_SANITIZE_THREAD)
  // The sanitizer does not see what the system call orders.
  return false;
#else
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

}  // namespace

const bool kFencesAreAsymmetric = register_membarrier();

// Both fences of a pair change the same word, so one of them reads what the other wrote.
void symmetric_fence() noexcept { fence_word.fetch_add(1, std::memory_order_seq_cst); }

void heavy_fence() noexcept {
  if (!kFencesAreAsymmetric || ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
    symmetric_fence();
  }
}

}  // namespace baton
