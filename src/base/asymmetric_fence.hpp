// Two fences that order a frequent side against a rare one, at the cost of the rare one.
//
// Each side writes one word, puts its fence, and reads the other's word: at least one of them sees what the other
// wrote. With two ordinary full fences both pay; here the frequent side pays nothing, because the rare side makes all
// running threads of the process execute a full fence (membarrier(2)). Where the system cannot do that, both pay.
#pragma once

#include <atomic>

namespace baton {

/// Whether light_fence() costs nothing. Decided when the program starts; false before.
extern const bool kFencesAreAsymmetric;

/// A full fence, for where there is nothing better. A read-modify-write: the thread sanitizer knows no fences.
void symmetric_fence() noexcept;

/// Of the frequent side.
inline void light_fence() noexcept {
  if (kFencesAreAsymmetric) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    symmetric_fence();
  }
}

/// Of the rare side.
void heavy_fence() noexcept;

}  // namespace baton
