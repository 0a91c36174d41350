// Tensors on other hosts, where no pointer reaches: an instruction computes on a copy of what it reads, or leaves what
// it writes in memory from which the core sends it.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/global_access.hpp>

namespace baton::kernel {

// bring_near: where an instruction finds, or leaves, the elements of a tensor that check_access() has found to be on
// another host. send_back, after an instruction that wrote to `near`: the elements go `there`.
#if defined(__CUDACC__)
// Never called: kFarMemory is false.
AICORE inline unsigned char* bring_near(const BatonPlace&, const GlobalView& tensor, uint32_t) { return tensor.data; }
AICORE inline void send_back(const BatonPlace&, const GlobalView&, const unsigned char*, uint32_t) {}
#else
PTO_ONCE PTO_COLD unsigned char* bring_near(const BatonPlace& place, const GlobalView& tensor, uint32_t access) {
  const BatonGlobalRange range = range_of(tensor, access);
  BatonCore& core = current_core();
  return static_cast<unsigned char*>(core.table->far_begin(&core, &range, &place));
}

PTO_ONCE PTO_COLD void send_back(const BatonPlace& place, const GlobalView& near, const unsigned char* there,
                                 uint32_t access) {
  BatonGlobalRange range = range_of(near, access);
  range.address = there;
  BatonCore& core = current_core();
  core.table->far_end(&core, &range, near.data, &place);
}
#endif

/// Words of a peer, for loads by hand: where they are, or a copy as they were just now, which stays until the next one.
template <typename Word>
AICORE const Word* near_words(const BatonPlace& place, const Word* words, int64_t count) {
  if (!has_far_memory()) return words;
  GlobalView line{const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(words)),
                  sizeof(Word),
                  pto::Layout::ND,
                  {{1, 1, 1, 1, count}, {0, 0, 0, 0, count == 1 ? 0 : 1}}};
  if (!check_access(place, "words of a peer", line)) return words;
  return reinterpret_cast<const Word*>(bring_near(place, line, BATON_READS));
}

}  // namespace baton::kernel
