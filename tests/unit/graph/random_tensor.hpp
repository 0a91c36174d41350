// Random views of views, and their bytes found by visiting every element.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <baton/tensor.hpp>

#include "chip/graph/view.hpp"

namespace baton::test {

using Random = std::mt19937_64;

/// Uniform in [low, high].
[[nodiscard]] std::int64_t pick(Random& random, std::int64_t low, std::int64_t high);

/// A tensor somewhere in `buffer` after a random chain of slices, steps, transposes, reversals, selections, reshapes
/// and reinterpretations.
[[nodiscard]] Tensor random_tensor(Random& random, const Buffer& buffer);

/// A row-major matrix over the start of `buffer`, as uint8, of rows of `pitch` bytes.
[[nodiscard]] Tensor matrix_over(const Buffer& buffer, std::int64_t pitch);

/// A tile of a matrix: aligned to the tile, or anywhere, of random size.
[[nodiscard]] Tensor random_tile(Random& random, const Tensor& matrix);

/// Calls `visit` with the address of each byte, possibly more than once.
void for_each_byte(const Tensor& tensor, const std::function<void(std::uint64_t)>& visit);
void for_each_byte(const graph::View& view, const std::function<void(std::uint64_t)>& visit);

/// The addresses, ascending, each once.
[[nodiscard]] std::vector<std::uint64_t> bytes_of(const Tensor& tensor);
[[nodiscard]] std::vector<std::uint64_t> bytes_of(const graph::View& view);

}  // namespace baton::test
