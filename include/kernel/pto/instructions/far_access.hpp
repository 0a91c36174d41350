// Tensors on other hosts, where no pointer reaches: an instruction computes on a copy of what it reads, or leaves what
// it writes in memory from which the core sends it.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/common/element_of.hpp>
#include <pto/common/enums.hpp>
#include <pto/instructions/global_access.hpp>

namespace baton::kernel {

// bring_near: where an instruction finds, or leaves, the elements of a tensor that check_access() has found to be on
// another host. send_back, after an instruction that wrote to `near`: the elements go `there`.
#if defined(__CUDACC__)
// Never called: kFarMemory is false.
AICORE inline unsigned char* bring_near(const BatonPlace&, const GlobalView& tensor, uint32_t) { return tensor.data; }
AICORE inline void send_back(const BatonPlace&, const GlobalView&, const unsigned char*, uint32_t) {}
AICORE inline void send_pieces(const BatonPlace&, const BatonScatter&) {}
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

PTO_ONCE PTO_COLD void send_pieces(const BatonPlace& place, const BatonScatter& pieces) {
  BatonCore& core = current_core();
  core.table->far_scatter(&core, &pieces, &place);
}
#endif

/// The access of an instruction that stores elements, or adds to them.
template <typename Element, pto::AtomicType atomic>
constexpr AICORE uint32_t write_access() {
  if constexpr (atomic == pto::AtomicType::AtomicNone) {
    return BATON_WRITES;
  } else {
    return BATON_WRITES | BATON_ATOMIC | static_cast<uint32_t>(element_of<Element>()) << BATON_ELEMENT_SHIFT;
  }
}

// For code that touches memory by hand.

/// Whether bytes are on another host.
AICORE inline bool is_far(const void* begin, uint64_t bytes) {
  if (!has_far_memory()) return false;
  BatonCore& core = current_core();
  return core.table->address_known(&core, begin, bytes, nullptr, 0) == BATON_ADDRESS_FAR;
}

AICORE inline GlobalView line_of_bytes(const void* begin, uint64_t bytes) {
  auto* const data = const_cast<unsigned char*>(static_cast<const unsigned char*>(begin));
  return {data, 1, pto::Layout::ND, {{1, 1, 1, 1, static_cast<int64_t>(bytes)}, {0, 0, 0, 0, 1}}};
}

/// What an instruction leaves at places of a tensor on another host: collected, then sent together.
class FarPieces {
 public:
  /// Room for `most` pieces of `piece_bytes`.
  PTO_COLD AICORE FarPieces(const BatonPlace& place, const unsigned char* tensor, int64_t most, int64_t piece_bytes)
      : place_(place),
        tensor_(tensor),
        piece_bytes_(static_cast<uint64_t>(piece_bytes)),
        distances_(bring_near(place, line_of_bytes(tensor, static_cast<uint64_t>(most) * (kDistance + piece_bytes_)),
                              BATON_WRITES)),
        pieces_(distances_ + static_cast<uint64_t>(most) * kDistance) {}

  AICORE void add(int64_t distance_bytes, const void* piece) {
    memcpy(distances_ + count_ * kDistance, &distance_bytes, kDistance);
    memcpy(pieces_ + count_ * piece_bytes_, piece, piece_bytes_);
    ++count_;
  }
  PTO_COLD AICORE void send(uint32_t change) {
    if (count_ == 0) return;
    // They follow the distances, of which there may be fewer than there is room for.
    unsigned char* const to = distances_ + count_ * kDistance;
    for (uint64_t i = 0; i < count_ * piece_bytes_; ++i) to[i] = pieces_[i];
    send_pieces(place_, {tensor_, distances_, count_, static_cast<uint32_t>(piece_bytes_), change});
  }

 private:
  static constexpr uint64_t kDistance = sizeof(int64_t);
  const BatonPlace& place_;
  const unsigned char* tensor_;
  uint64_t piece_bytes_;
  unsigned char* distances_;
  unsigned char* pieces_;
  uint64_t count_ = 0;
};

/// Words of a peer: where they are, or a copy as they were just now, which stays until the next one.
template <typename Word>
AICORE const Word* near_words(const BatonPlace& place, const Word* words, int64_t count) {
  const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(Word);
  if (!kFarMemory || !is_far(words, bytes)) return words;
  return reinterpret_cast<const Word*>(bring_near(place, line_of_bytes(words, bytes), BATON_READS));
}

/// to = from, without tiles.
AICORE inline void copy_by_hand(const BatonPlace& place, void* to, const void* from, uint64_t bytes) {
  const auto* source = near_words(place, static_cast<const unsigned char*>(from), static_cast<int64_t>(bytes));
  if (!kFarMemory || !is_far(to, bytes)) {
    memcpy(to, source, bytes);
    return;
  }
  GlobalView line = line_of_bytes(to, bytes);
  line.data = bring_near(place, line, BATON_WRITES);
  memcpy(line.data, source, bytes);
  send_back(place, line, static_cast<const unsigned char*>(to), BATON_WRITES);
}

}  // namespace baton::kernel
