// How ranks write to memory of another that may take it back at any time.
//
//   writer   enter(): "I write" ─> is the call given up? ─> no: write ─> leave()
//   owner    close(): "the call is given up" ─> waits while somebody is_inside() ─> the memory is its own again
//
// Each side says its word first and then looks at the other's: either the writer sees that the gate is closed, or the
// owner sees the writer.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/doorbell.hpp"

namespace baton::collectives {

/// Rules supplies Atomic<T>; the model checker runs the same code with its own. Calls have numbers from 1 on.
template <class Rules>
struct BasicWriteGate {
  using Word = typename Rules::template Atomic<std::uint64_t>;

  /// `first` is the first call that somebody has given up, 0: none.
  [[nodiscard]] static bool is_closed(std::uint64_t first, std::uint64_t call) noexcept {
    return first != 0 && first <= call;
  }

  /// Of the owner, and of anybody else who gives a call up: it is of no use to those who still write.
  static void close(Word& first, std::uint64_t call) noexcept {
    // Sequentially consistent, also where another closed it before: pairs with the load in enter().
    std::uint64_t earlier = first.load(std::memory_order_seq_cst);
    while (!is_closed(earlier, call) &&
           !first.compare_exchange_strong(earlier, call, std::memory_order_seq_cst, std::memory_order_seq_cst)) {
    }
  }
  /// Whether that writer may still write in this call. After close().
  [[nodiscard]] static bool is_inside(const Word& writing, std::uint64_t call) noexcept {
    // Pairs with the stores in enter() and leave(): what it wrote comes before what the owner does next.
    return writing.load(std::memory_order_seq_cst) == call;
  }

  /// Of a writer: false if it must not write, nor leave().
  [[nodiscard]] static bool enter(const Word& first, Word& writing, std::uint64_t call) noexcept {
    // Pairs with is_inside().
    writing.store(call, std::memory_order_seq_cst);
    // Pairs with close().
    if (!is_closed(first.load(std::memory_order_seq_cst), call)) return true;
    leave(writing);
    return false;
  }
  static void leave(Word& writing) noexcept {
    // Releases what was written; pairs with is_inside().
    writing.store(0, std::memory_order_release);
  }
};

using WriteGate = BasicWriteGate<MachineRules>;

}  // namespace baton::collectives
