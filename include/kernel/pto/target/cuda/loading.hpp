// In which order loaders start their loads, and what they wait for. A load replaces what products still read, so it
// comes in portions: each begins when that portion has been read. Loaders take orders in turns, each its own one after
// the other: what an order waits for, a product that was posted before it, waits for loads that were ordered before it.
//
// A GPU uses it with barriers in shared memory, and tests with words that a checker of memory orders knows.
#pragma once

#include <stdint.h>

#include <pto/target/qualifiers.hpp>

namespace baton::cuda {

/// Places that are used in turns, each with a barrier. A waiter knows the parity of a phase, not its number.
template <uint32_t kPlaces>
struct BarrierRing {
  static constexpr AICORE uint32_t place(uint32_t number) { return number % kPlaces; }
  /// Of the phase that ends with this number.
  static constexpr AICORE uint32_t parity(uint32_t number) { return number / kPlaces % 2; }
  /// Of the one that ends with the number that had its place before; before the first ones it has ended, too.
  static constexpr AICORE uint32_t parity_before(uint32_t number) { return (number / kPlaces + 1) % 2; }
};

/// A tile arrives in portions, each with a barrier of its own: a product begins with the first ones, and that portion
/// is loaded again while the product reads the second.
inline constexpr uint32_t kPortions = 2;

/// Carries out each kLoaders-th order from `number` on, up to one that is not a load.
template <uint32_t kLoaders, class Words>
AICORE void load_in_portions(Words& words, uint32_t number) {
  for (;; number += kLoaders) {
    if (!words.await_order(number)) return;
    for (uint32_t portion = 0; portion < kPortions; ++portion) {
      words.await_read(portion);
      words.load(portion);
    }
    words.end_order(number);
  }
}

}  // namespace baton::cuda
