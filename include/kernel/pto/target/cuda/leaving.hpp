// Who is left waiting when cores leave while the host brings work? Nobody: each side tells before it looks.
//
// Host and GPU use it with the words they share, and tests with words that a checker of memory orders knows.
#pragma once

#include <stdint.h>

#include <pto/target/qualifiers.hpp>

namespace baton::cuda {

// What they do with their words is sequentially consistent: all agree on one order of it.

/// The cores, none of which has anything to do, say that they leave. `bell`: what they have done. Returns whether they
/// do; if not, there is more to do.
template <class Words>
AICORE bool announce_leaving(const Words& words, uint64_t bell) {
  words.tell_left();
  return words.bell() == bell;
}

/// The host has written commands; these are all so far. Returns whether cores have to be started: those that were may
/// have left.
template <class Words>
AICORE bool ring(const Words& words, uint64_t commands) {
  words.ring(commands);
  return words.have_left();
}

}  // namespace baton::cuda
