// The cases of an operation that a test of all of them makes: every element and operation on elements, and every place
// around the sizes at which something changes.
#pragma once

#include <vector>

#include "cases.hpp"

namespace baton::test {

/// The whole matrix takes minutes; without TEST_SCALE above 1 its corners must do.
[[nodiscard]] bool whole_matrix();
/// Megabytes, and very many ranks, take a minute under the thread sanitizer, which sees the same code with less.
[[nodiscard]] bool large_borders();

template <class T>
std::vector<T> corners(std::vector<T> few, std::vector<T> all) {
  return whole_matrix() ? all : few;
}

[[nodiscard]] std::vector<Case> cases_of_elements(collectives::Operation operation, int ranks);
[[nodiscard]] std::vector<Case> cases_around_borders(collectives::Operation operation, Algorithm algorithm, int ranks);

}  // namespace baton::test
