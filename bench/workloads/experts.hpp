// A layer of experts, the same for every contender: what tokens hold, which experts they choose, and what comes out.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <support/measure.hpp>

namespace bench {

struct Layer {
  int ranks = 1;
  int tokens = 128;  // of each rank
  int top_k = 6;
  int experts_per_rank = 16;
  int width = 4096;

  [[nodiscard]] int experts() const { return ranks * experts_per_rank; }
  [[nodiscard]] int choices() const { return tokens * top_k; }
  [[nodiscard]] std::size_t elements(int rows) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  }
};

/// bfloat16: the upper half of a float, rounded to the nearest, ties to even.
[[nodiscard]] inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}
[[nodiscard]] inline float from_bfloat16(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
}

/// A small whole number.
[[nodiscard]] inline float token_value(int rank, int token, int column) {
  return static_cast<float>((rank * 7 + token * 3 + column) % 61);
}
[[nodiscard]] inline std::vector<std::uint16_t> tokens_of(const Layer& layer, int rank) {
  std::vector<std::uint16_t> values(layer.elements(layer.tokens));
  for (int token = 0; token < layer.tokens; ++token) {
    for (int column = 0; column < layer.width; ++column) {
      values[layer.elements(token) + static_cast<std::size_t>(column)] = to_bfloat16(token_value(rank, token, column));
    }
  }
  return values;
}

/// All of a token's choices are different, and spread over all ranks.
[[nodiscard]] inline std::vector<std::int32_t> choices_of(const Layer& layer, int rank) {
  std::vector<std::int32_t> choices;
  for (int token = 0; token < layer.tokens; ++token) {
    const std::uint32_t first = static_cast<std::uint32_t>(rank * layer.tokens + token) * 2654435761U >> 7U;
    for (int k = 0; k < layer.top_k; ++k) {
      const int apart = layer.experts() / layer.top_k;
      choices.push_back(static_cast<std::int32_t>((first + static_cast<std::uint32_t>(k * apart)) %
                                                  static_cast<std::uint32_t>(layer.experts())));
    }
  }
  return choices;
}

/// Powers of two: sums of small whole numbers by these weights are exact.
[[nodiscard]] inline std::vector<float> weights_of(const Layer& layer) {
  std::vector<float> weights;
  for (int choice = 0; choice < layer.choices(); ++choice)
    weights.push_back(1.0F / static_cast<float>(1 << choice % layer.top_k));
  return weights;
}

/// Experts give back what they get.
inline void check_sums(const Layer& layer, int rank, const std::vector<std::uint16_t>& sums) {
  float weight = 0;
  for (int k = 0; k < layer.top_k; ++k) weight += 1.0F / static_cast<float>(1 << k);
  for (int token = 0; token < layer.tokens; ++token) {
    for (int column = 0; column < layer.width; ++column) {
      const std::uint16_t expected = to_bfloat16(token_value(rank, token, column) * weight);
      if (sums[layer.elements(token) + static_cast<std::size_t>(column)] != expected) {
        throw std::runtime_error("rank " + std::to_string(rank) + " has a wrong sum for token " +
                                 std::to_string(token));
      }
    }
  }
}

/// Measures `exchange.round(operation)` per token of all ranks: "dispatch", rows to their experts, or "layer", also
/// back and summed. Then checks one round. `largest` as in measure_together().
template <class Exchange, class Largest>
[[nodiscard]] Measured measure_experts(Exchange& exchange, const std::string& operation, const Layer& layer, int rank,
                                       std::chrono::nanoseconds budget, Largest&& largest) {
  if (operation != "dispatch" && operation != "layer") throw std::invalid_argument("no operation '" + operation + "'");
  const auto run = [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) exchange.round(operation == "layer");
  };
  Measured measured = measure_together(budget, run, largest);
  if (operation == "layer") check_sums(layer, rank, exchange.sums());
  measured.median_ns /= static_cast<double>(layer.ranks) * layer.tokens;
  measured.count *= static_cast<std::int64_t>(layer.ranks) * layer.tokens;
  return measured;
}

}  // namespace bench
