// In which order a loader starts its loads, and what it waits for. A load replaces what products still read, so it
// comes in portions: each begins when that portion has been read, and first ones do not wait for second ones of other
// loads.
//
// A GPU uses it with barriers in shared memory, and tests with words that a checker of memory orders knows.
#pragma once

#include <stdint.h>

#include <pto/target/qualifiers.hpp>

namespace baton::cuda {

/// Places that are used in turns, each with a barrier. Whoever waits knows the parity of a phase, not its number.
template <uint32_t kPlaces>
struct BarrierRing {
  static constexpr AICORE uint32_t place(uint32_t number) { return number % kPlaces; }
  /// Of the phase that ends with this number.
  static constexpr AICORE uint32_t parity(uint32_t number) { return number / kPlaces % 2; }
  /// Of the one that ends with the number that had its place before; before the first ones it has ended, too.
  static constexpr AICORE uint32_t parity_before(uint32_t number) { return (number / kPlaces + 1) % 2; }
};

/// Carries out orders in their order until the last one, which is no load. `kPlaces`: of the ring that they come in.
template <uint32_t kPlaces, class Words>
AICORE void load_in_portions(Words& words) {
  // Orders of which the first portions were started, and both.
  uint32_t begun = 0;
  uint32_t ended = 0;
  while (true) {
    const bool is_idle = begun == ended;
    if (is_idle) words.await_order(begun);
    bool rests = true;
    // When as many as there is room for have begun, the next one is not there, whatever its barrier says.
    if (is_idle || (begun - ended < kPlaces && words.has_order(begun))) {
      const bool is_last = words.is_last(begun);
      if (is_last && is_idle) return;
      if (!is_last && words.may_load(begun, 0)) {
        words.load(begun, 0);
        ++begun;
        rests = false;
      }
    }
    if (begun != ended && words.may_load(ended, 1)) {
      words.load(ended, 1);
      words.end_order(ended);
      ++ended;
      rests = false;
    }
    if (rests) words.rest();
  }
}

}  // namespace baton::cuda
