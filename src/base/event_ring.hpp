// A ring of events: one thread writes, anybody reads at any time, nobody waits.
//
// The writer overwrites the oldest events. A reader copies what it finds and then asks how far the writer may have come
// meanwhile; what may have been overwritten it discards. The writer announces that in advance, for some events at once,
// so that an event costs no fence:
//
//   writer   claimed ─> order_stores() ─> words of some events, each followed by `written`
//   reader   written ─> words ─> order_loads() ─> claimed       who read an overwritten word sees the claim
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/event.hpp"
#include "base/fences.hpp"

namespace baton {

/// Rules supplies Atomic<T> and the two orders; the model checker runs the same code with its own.
template <class Rules, std::size_t kWords>
struct BasicEventSlot {
  std::array<typename Rules::template Atomic<std::uint64_t>, kWords> words;
};

/// The words beside the slots. Zero is the initial state. They may lie in memory that several processes share.
template <class Rules>
struct alignas(64) BasicEventRing {
  /// How many events have been written since the start.
  typename Rules::template Atomic<std::uint64_t> written;
  /// How many may have been begun: those that lie a whole ring before them are gone.
  typename Rules::template Atomic<std::uint64_t> claimed;
};

/// The writing thread's side of a ring.
template <class Rules, std::size_t kWords = kEventWords>
class BasicRingWriter {
 public:
  using Ring = BasicEventRing<Rules>;
  using Slot = BasicEventSlot<Rules, kWords>;
  using Words = std::array<std::uint64_t, kWords>;

  BasicRingWriter() = default;
  /// Goes on where the last writer of the ring stopped. `capacity` is a power of two, and a multiple of `claim`.
  BasicRingWriter(Ring& ring, Slot* slots, std::uint64_t capacity, std::uint64_t claim) noexcept
      : ring_(&ring), slots_(slots), mask_(capacity - 1), claim_(claim) {
    next_ = ring.written.load(std::memory_order_relaxed);
    claimed_ = ring.claimed.load(std::memory_order_relaxed);
  }

  void write(const Words& words) noexcept {
    if (next_ >= claimed_) [[unlikely]]
      claim_more();
    Slot& slot = slots_[next_ & mask_];
    for (std::size_t i = 0; i < kWords; ++i) slot.words[i].store(words[i], std::memory_order_relaxed);
    ++next_;
    // Pairs with the load in read_ring(): a reader that sees the number sees the event.
    ring_->written.store(next_, std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t written() const noexcept { return next_; }
  /// The event of this number, if it is young enough to stay for a while: to be looked at and brought up to date. Who
  /// reads it meanwhile may see some of its words as they were before.
  [[nodiscard]] Slot* recent(std::uint64_t number) noexcept {
    return next_ - number - 1 < (mask_ + 1) / 2 ? &slots_[number & mask_] : nullptr;
  }
  [[nodiscard]] explicit operator bool() const noexcept { return ring_ != nullptr; }

 private:
  void claim_more() noexcept {
    claimed_ = next_ + claim_;
    ring_->claimed.store(claimed_, std::memory_order_relaxed);
    // Pairs with order_loads() in read_ring().
    Rules::order_stores();
  }

  Ring* ring_ = nullptr;
  Slot* slots_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t claim_ = 1;
  std::uint64_t next_ = 0;
  std::uint64_t claimed_ = 0;
};

/// What of a ring could be read.
template <std::size_t kWords>
struct RingContents {
  std::uint64_t first = 0;  // the number of the first event in `events`, counted from the ring's start
  std::vector<std::array<std::uint64_t, kWords>> events;
};

/// The events that the ring holds, the oldest first: at most `capacity`, fewer if the writer overtakes.
template <class Rules, std::size_t kWords>
[[nodiscard]] RingContents<kWords> read_ring(const BasicEventRing<Rules>& ring,
                                             const BasicEventSlot<Rules, kWords>* slots, std::uint64_t capacity) {
  RingContents<kWords> contents;
  // Pairs with the store in write().
  const std::uint64_t end = ring.written.load(std::memory_order_acquire);
  contents.first = end - std::min(end, capacity);
  contents.events.resize(static_cast<std::size_t>(end - contents.first));
  for (std::uint64_t number = contents.first; number < end; ++number) {
    auto& words = contents.events[static_cast<std::size_t>(number - contents.first)];
    for (std::size_t i = 0; i < kWords; ++i) {
      words[i] = slots[number & (capacity - 1)].words[i].load(std::memory_order_relaxed);
    }
  }
  // Pairs with order_stores() in claim_more(): a word of a later event was read after its claim.
  Rules::order_loads();
  const std::uint64_t claimed = ring.claimed.load(std::memory_order_relaxed);
  const std::uint64_t safe = claimed - std::min(claimed, capacity);
  if (safe > contents.first) {
    const std::uint64_t lost = std::min<std::uint64_t>(safe - contents.first, contents.events.size());
    contents.events.erase(contents.events.begin(), contents.events.begin() + static_cast<std::ptrdiff_t>(lost));
    contents.first += lost;
  }
  return contents;
}

struct RingRules {
  template <class T>
  using Atomic = std::atomic<T>;
  static void order_stores() noexcept { baton::order_stores(); }
  static void order_loads() noexcept { baton::order_loads(); }
};

using EventRing = BasicEventRing<RingRules>;
using EventSlot = BasicEventSlot<RingRules, kEventWords>;
using RingWriter = BasicRingWriter<RingRules>;
static_assert(sizeof(EventRing) == 64 && sizeof(EventSlot) == sizeof(EventRecord));

/// Events that are claimed at once.
inline constexpr std::uint64_t kEventClaim = 64;

/// Bytes from elsewhere: enumerators that this version does not know are replaced.
[[nodiscard]] inline EventRecord event_of(const RingWriter::Words& words) noexcept {
  auto event = std::bit_cast<EventRecord>(words);
  event.kind = info_of(event.kind).kind;
  if (event.outcome > kLastEventOutcome) event.outcome = EventOutcome::done;
  return event;
}
[[nodiscard]] inline RingWriter::Words words_of(const EventRecord& event) noexcept {
  return std::bit_cast<RingWriter::Words>(event);
}

}  // namespace baton
