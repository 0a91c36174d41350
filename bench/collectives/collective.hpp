// The collectives that are measured, the same for every contender: sizes, contents and what must come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <support/measure.hpp>

namespace bench {

/// Elements of what a rank puts in and gets out. `bytes` is the larger of the two, as far as it can be divided.
struct Sizes {
  std::size_t in = 0;
  std::size_t out = 0;
  std::size_t block = 0;
};

[[nodiscard]] inline Sizes sizes_of(std::string_view operation, std::size_t bytes, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  const std::size_t vector = bytes / sizeof(float) == 0 ? 1 : bytes / sizeof(float);
  const std::size_t block = vector / p == 0 ? 1 : vector / p;
  if (operation == "barrier") return {};
  if (operation == "broadcast" || operation == "reduce" || operation == "allreduce") return {vector, vector, vector};
  if (operation == "reduce_scatter" || operation == "scatter") return {block * p, block, block};
  if (operation == "allgather" || operation == "gather") return {block, block * p, block};
  if (operation == "all_to_all" || operation == "all_to_all_v") return {block * p, block * p, block};
  throw std::invalid_argument("no operation '" + std::string(operation) + "'");
}

/// What rank `rank` puts at `place` in `round`: small whole numbers, of which every sum is exact.
[[nodiscard]] inline float put_in(int rank, std::size_t place, int round) {
  return static_cast<float>((static_cast<std::size_t>(rank) * 7 + place * 3 + static_cast<std::size_t>(round)) % 61);
}

[[nodiscard]] inline float sum_of(int ranks, std::size_t place, int round) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += put_in(rank, place, round);
  return sum;
}

/// What rank `rank` must get at `place`, or what it keeps (`own`) where the operation gives it nothing.
[[nodiscard]] inline float comes_out(std::string_view operation, const Sizes& sizes, int rank, int ranks, int root,
                                     std::size_t place, int round, float own) {
  const auto self = static_cast<std::size_t>(rank);
  const auto origin = static_cast<int>(place / (sizes.block == 0 ? 1 : sizes.block));
  const std::size_t inside = place % (sizes.block == 0 ? 1 : sizes.block);
  if (operation == "broadcast") return put_in(root, place, round);
  if (operation == "allreduce") return sum_of(ranks, place, round);
  if (operation == "reduce") return rank == root ? sum_of(ranks, place, round) : own;
  if (operation == "reduce_scatter") return sum_of(ranks, self * sizes.block + place, round);
  if (operation == "scatter") return put_in(root, self * sizes.block + place, round);
  if (operation == "allgather") return put_in(origin, inside, round);
  if (operation == "gather") return rank == root ? put_in(origin, inside, round) : own;
  return put_in(origin, self * sizes.block + inside, round);
}

/// Roots at random: the same for every rank and every contender, and for nobody to foresee.
class Roots {
 public:
  explicit Roots(int ranks) noexcept : ranks_(static_cast<std::uint64_t>(ranks)) {}
  [[nodiscard]] int next() noexcept {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state_ >> 32U) * ranks_ >> 32U);
  }

 private:
  std::uint64_t ranks_;
  std::uint64_t state_ = 1;
};

/// Measures `library.run(operation, root)`, with roots at random, on the spans library.in() and library.out().
/// Then checks a few rounds with changing contents. `largest` as in measure_together().
template <class Library, class Largest>
[[nodiscard]] Measured measure_collective(Library& library, const std::string& operation, const Sizes& sizes, int rank,
                                          int ranks, std::chrono::nanoseconds budget, Largest&& largest) {
  for (float& element : library.in()) element = 1;
  for (float& element : library.out()) element = 1;
  Roots roots(ranks);
  const auto run = [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) library.run(operation, roots.next());
  };
  const Measured measured = measure_together(budget, run, largest);
  const bool in_place = library.in().data() == library.out().data();
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < sizes.in; ++i) library.in()[i] = put_in(rank, i, round);
    if (!in_place) {
      for (float& element : library.out()) element = -1;
    }
    const int from = round % ranks;
    library.run(operation, from);
    for (std::size_t i = 0; i < sizes.out; ++i) {
      const float own = in_place ? put_in(rank, i, round) : -1;
      if (library.out()[i] == comes_out(operation, sizes, rank, ranks, from, i, round, own)) continue;
      throw std::runtime_error("element " + std::to_string(i) + " of rank " + std::to_string(rank) +
                               " is wrong after " + operation + " in round " + std::to_string(round));
    }
    static_cast<void>(largest(0));
  }
  return measured;
}

}  // namespace bench
