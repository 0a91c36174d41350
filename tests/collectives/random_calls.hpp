// Random sequences of collectives, on the whole job and on subsets that overlap.
#pragma once

#include <cstdint>
#include <random>

#include "cases.hpp"

namespace baton::test {

/// A domain with its own sequence. Members draw from the same seed.
struct Group {
  Group(Domain members, std::uint64_t seed);
  void call(int round, const Maker& maker = call_public);
  Domain domain;
  std::mt19937_64 random;
  Buffers buffers;
};

/// Calls on the world, on a half and on a subset that crosses the halves, in an order that every rank draws alike.
void random_calls(Domain me, std::uint64_t seed, int calls);

}  // namespace baton::test
