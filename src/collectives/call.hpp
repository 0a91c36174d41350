// What a rank called, in words that ranks can compare.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <collectives/work.hpp>

namespace baton::collectives {

inline constexpr int kOperations = 10;
inline constexpr int kAlgorithms = 15;

struct Call {
  Operation operation = Operation::barrier;
  Element element = Element::uint8;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  /// Elements of the vector, or of one block.
  std::uint64_t count = 0;
};

[[nodiscard]] constexpr bool reduces(Operation operation) noexcept {
  return operation == Operation::reduce || operation == Operation::allreduce || operation == Operation::reduce_scatter;
}
[[nodiscard]] constexpr bool has_root(Operation operation) noexcept {
  return operation == Operation::broadcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::scatter;
}

[[nodiscard]] std::string_view name_of(Operation operation) noexcept;
[[nodiscard]] std::string_view name_of(Element element) noexcept;
[[nodiscard]] std::string_view name_of(ReduceOp op) noexcept;
[[nodiscard]] std::string_view name_of(Algorithm algorithm) noexcept;

/// Where they lie in a fingerprint.
namespace fields {
inline constexpr unsigned kElementAt = 4;
inline constexpr unsigned kOpAt = 8;
inline constexpr unsigned kRootAt = 12;
inline constexpr unsigned kCountAt = 28;
inline constexpr std::uint64_t kRootMask = 0xffffU;
inline constexpr std::uint64_t kNibble = 0xfU;
}  // namespace fields

/// One word from which the call can be told again; counts of 2^36 and more only nearly.
[[nodiscard]] constexpr std::uint64_t fingerprint_of(const Call& call) noexcept {
  return static_cast<std::uint64_t>(call.operation) | static_cast<std::uint64_t>(call.element) << fields::kElementAt |
         static_cast<std::uint64_t>(call.op) << fields::kOpAt |
         (static_cast<std::uint64_t>(call.root) & fields::kRootMask) << fields::kRootAt |
         call.count << fields::kCountAt;
}
[[nodiscard]] Call call_of(std::uint64_t fingerprint) noexcept;

/// "allreduce of 1024 float32, sum".
[[nodiscard]] std::string describe(const Call& call);
/// Of a message between two ranks: the fingerprints are those of what was sent and of what is wanted.
[[noreturn]] void throw_message_mismatch(int sender, std::uint64_t sent, int receiver, std::uint64_t wanted);
/// Of blocks of different sizes.
[[noreturn]] void throw_counts_differ(int from, std::uint64_t sent, Element element, int to, std::uint64_t expected);

/// Mixes `value` into a hash of what a fingerprint does not hold.
[[nodiscard]] constexpr std::uint64_t hash_with(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29U);
}

}  // namespace baton::collectives
