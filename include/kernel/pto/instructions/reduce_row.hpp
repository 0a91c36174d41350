// The sum of one row, or what else is made of all its elements: in the same order on every platform.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/numbers.hpp>
#include <pto/target/vector_loop.hpp>

namespace baton::kernel {

inline constexpr int kReducedLanes = 16;

/// `count` of kReducedLanes elements as numbers to calculate with; the others stay what they are.
template <typename Number, typename Element>
PTO_INLINE AICORE void load_lanes(Number (&lanes)[kReducedLanes], const Element* from, int count) {
  if constexpr (!std::is_same_v<Number, Element>) {
    widen(lanes, from, static_cast<size_t>(count));
  } else if (count == kReducedLanes) {
    memcpy(lanes, from, sizeof lanes);
  } else {
    for (int k = 0; k < count; ++k) lanes[k] = from[k];
  }
}

template <typename Operation, typename Number>
PTO_INLINE AICORE void reduce_lanes(Operation operation, Number (&lanes)[kReducedLanes],
                                    const Number (&with)[kReducedLanes]) {
  PTO_VECTOR_LOOP
  for (int k = 0; k < kReducedLanes; ++k) lanes[k] = operation(lanes[k], with[k]);
}

/// The upper half onto the lower one, until the first has all. Not a loop over halves: gcc makes vectors of loops whose
/// length it knows before it unrolls others.
template <int half = kReducedLanes / 2, typename Operation, typename Number>
PTO_INLINE AICORE void fold_lanes(Operation operation, Number (&lanes)[kReducedLanes]) {
  PTO_VECTOR_LOOP
  for (int k = 0; k < half; ++k) lanes[k] = operation(lanes[k], lanes[k + half]);
  if constexpr (half > 1) fold_lanes<half / 2>(operation, lanes);
}

/// Lanes side by side first, then across: sums of floats associate freely.
template <typename Element, typename Operation>
PTO_INLINE AICORE Element reduce_row(Operation operation, const Element* run, int32_t cols) {
  Computed<Element> lanes[kReducedLanes];
  Computed<Element> next[kReducedLanes];
  const int used = cols < kReducedLanes ? cols : kReducedLanes;
  load_lanes(lanes, run, used);
  int i = kReducedLanes;
  for (; i + kReducedLanes <= cols; i += kReducedLanes) {
    load_lanes(next, run + i, kReducedLanes);
    reduce_lanes(operation, lanes, next);
  }
  if (i < cols) {
    load_lanes(next, run + i, cols - i);
    for (int k = 0; k < cols - i; ++k) lanes[k] = operation(lanes[k], next[k]);
  }
  if (used == kReducedLanes) {
    fold_lanes(operation, lanes);
  } else {
    for (int k = 1; k < used; ++k) lanes[0] = operation(lanes[0], lanes[k]);
  }
  return static_cast<Element>(lanes[0]);
}

/// Whether operations may be grouped in any way, though not exchanged: of equal numbers the last one counts, and the
/// first one that is not a number.
template <typename Operation>
inline constexpr bool is_associative =
    std::is_same_v<Operation, LargerNumber> || std::is_same_v<Operation, SmallerNumber>;

}  // namespace baton::kernel
