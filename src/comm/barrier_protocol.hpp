// The barrier: two words that only grow.
//
// Resetting a counter for the next use is the classic mistake: a fast member may arrive for the next use before the
// reset. Here nothing is reset; each use waits for the next epoch.
#pragma once

#include <atomic>
#include <cstdint>

namespace baton::comm {

/// Words is wire::BarrierWords, or the model checker's equivalent.
template <class Words>
struct BarrierProtocol {
  enum class Arrival : std::uint8_t { must_wait, completed };

  /// Arrives at the barrier `epoch` (1, 2, ...) of `members`. The member that gets `completed` must ring the others.
  [[nodiscard]] static Arrival arrive(Words& words, std::uint64_t epoch, std::uint64_t members) noexcept {
    if (!count(words, epoch, members)) return Arrival::must_wait;
    release(words, epoch);
    return Arrival::completed;
  }

  /// The two halves of arrive(), for a member that has something to do in between: true for the last one, which then
  /// calls release().
  [[nodiscard]] static bool count(Words& words, std::uint64_t epoch, std::uint64_t members) noexcept {
    // Releases what this member wrote before, and acquires what earlier arrivals released: the last arrival has all.
    return words.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == epoch * members;
  }
  static void release(Words& words, std::uint64_t epoch) noexcept {
    // Pairs with the load in passed(). Sequentially consistent because doorbells are rung after it.
    words.released.store(epoch, std::memory_order_seq_cst);
  }

  /// Whether the barrier `epoch` is complete; if so, everything written before it by any member is visible.
  [[nodiscard]] static bool passed(const Words& words, std::uint64_t epoch) noexcept {
    // Pairs with the store in arrive(). Sequentially consistent because waiters test it before they sleep.
    return words.released.load(std::memory_order_seq_cst) >= epoch;
  }

  /// Takes back an arrival at `epoch`, which then counts as never made. False if the barrier completed first: the
  /// member has passed it.
  [[nodiscard]] static bool withdraw(Words& words, std::uint64_t epoch, std::uint64_t members) noexcept {
    // Pairs with the additions in arrive(): who sees the last of them sees what all members wrote before.
    std::uint64_t arrived = words.arrived.load(std::memory_order_acquire);
    while (arrived < epoch * members) {
      // Others of this epoch may come or withdraw meanwhile; what they released stays with the word.
      if (words.arrived.compare_exchange_weak(arrived, arrived - 1, std::memory_order_acquire)) return true;
    }
    return false;
  }
};

}  // namespace baton::comm
