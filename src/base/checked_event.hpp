// The events that `baton check` reads: how the four numbers of an event hold what its analysis needs to know.
#pragma once

#include <cstdint>

#include "base/event.hpp"

namespace baton {

/// What an access does with its bytes.
enum class CheckedUse : std::uint8_t { read, write, atomic };

/// What a piece of memory is.
enum class CheckedHolder : std::uint8_t { window, chip, node };

/// Of kinds `touch`, `change`, `saw` and `fresh`: a piece of memory that actors share.
struct CheckedBytes {
  std::uint64_t memory = 0;  // which one: the same number in all processes
  std::uint32_t owner = 0;   // whose part of a window it is, whose chip
  std::uint64_t begin = 0;
  std::uint8_t how = 0;         // CheckedUse, NotifyOp or WaitCmp
  std::uint8_t word_bytes = 0;  // of a change or what was seen
  CheckedHolder holder = CheckedHolder::window;
  std::uint64_t last = 0;  // of a touch, its end; of others the value
};

inline void pack(const CheckedBytes& bytes, EventRecord& event) noexcept {
  event.a = bytes.memory;
  event.b = std::uint64_t{bytes.owner} << 32U | static_cast<std::uint64_t>(bytes.holder) << 16U |
            std::uint64_t{bytes.word_bytes} << 8U | bytes.how;
  event.c = bytes.begin;
  event.d = bytes.last;
}

[[nodiscard]] inline CheckedBytes unpack(const EventRecord& event) noexcept {
  return {event.a,
          static_cast<std::uint32_t>(event.b >> 32U),
          event.c,
          static_cast<std::uint8_t>(event.b),
          static_cast<std::uint8_t>(event.b >> 8U),
          static_cast<CheckedHolder>(static_cast<std::uint8_t>(event.b >> 16U)),
          event.d};
}

/// Of kind `touch_rows`, instead of `last`: runs of bytes at equal distances.
struct CheckedRows {
  std::uint64_t rows = 1;
  std::uint64_t row_bytes = 0;
  std::uint64_t pitch_bytes = 0;

  static constexpr unsigned kRowBits = 16;
  static constexpr unsigned kByteBits = 24;

  /// Whether they fit into a number of an event.
  [[nodiscard]] constexpr bool fit() const noexcept {
    return rows >> kRowBits == 0 && row_bytes >> kByteBits == 0 && pitch_bytes >> kByteBits == 0;
  }
  [[nodiscard]] constexpr std::uint64_t packed() const noexcept {
    return rows << (2 * kByteBits) | row_bytes << kByteBits | pitch_bytes;
  }
  [[nodiscard]] static constexpr CheckedRows of(std::uint64_t packed) noexcept {
    constexpr std::uint64_t kMask = (std::uint64_t{1} << kByteBits) - 1;
    return {packed >> (2 * kByteBits), packed >> kByteBits & kMask, packed & kMask};
  }
};

/// Spreads two numbers over all 64 bits: of pairs that differ, even by one bit, the results have nothing in common.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  const auto spread = [](std::uint64_t value) {
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
  };
  return spread(spread(a + 0x9e3779b97f4a7c15U) + b);
}

/// A buffer that a node gives to its chips, in the numbers of the node.
[[nodiscard]] constexpr std::uint64_t node_memory(std::uint64_t node, std::uint64_t buffer) noexcept {
  return mix(node + 1, buffer);
}

/// What tokens of a chip or a node stand for. No two of them are the same, whatever their numbers.
enum class TokenKind : std::uint8_t { task_submitted, task_ended, all_ended, once, copy };
[[nodiscard]] constexpr std::uint64_t token_of(std::uint64_t owner, TokenKind kind, std::uint64_t number) noexcept {
  return mix(mix(owner, static_cast<std::uint64_t>(kind)), number);
}

/// What a task hands over.
enum class TaskMoment : std::uint8_t { submitted, ended };
[[nodiscard]] constexpr std::uint64_t task_token(std::uint64_t chip, std::uint64_t task, TaskMoment moment) noexcept {
  return token_of(chip, moment == TaskMoment::submitted ? TokenKind::task_submitted : TokenKind::task_ended, task);
}
/// All tasks of a chip that have ended.
[[nodiscard]] constexpr std::uint64_t tasks_token(std::uint64_t chip) noexcept {
  return token_of(chip, TokenKind::all_ended, 0);
}

}  // namespace baton
