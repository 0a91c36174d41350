// What ranks of one host and of several do in the same words: scenarios.cpp has RootsChange, CollectivesUntilDeath (its
// operation is TEST_OPERATION) and EndsBecauseCallsDiffer.
#pragma once

#include <vector>

#include "cases.hpp"

namespace baton::test {

/// A few of an operation with one algorithm.
[[nodiscard]] std::vector<Case> cases_of(collectives::Operation operation, Algorithm algorithm);

/// The algorithm by which ranks of this operation reach for memory of each other; automatic if there is none.
[[nodiscard]] Algorithm reaching(collectives::Operation operation);

}  // namespace baton::test
