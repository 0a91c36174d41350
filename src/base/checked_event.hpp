// The events that `baton check` reads: how the four numbers of an event hold what its analysis needs to know.
#pragma once

#include <cstdint>

#include "base/event.hpp"

namespace baton {

/// What an access does with its bytes.
enum class CheckedUse : std::uint8_t { read, write, atomic };

/// Of kinds `touch`, `change` and `saw`: a piece of memory that actors share.
struct CheckedBytes {
  std::uint64_t memory = 0;  // which one: the same number in all processes
  std::uint32_t owner = 0;   // whose part of a window it is
  std::uint64_t begin = 0;
  std::uint8_t how = 0;         // CheckedUse, NotifyOp or WaitCmp
  std::uint8_t word_bytes = 0;  // of a change or what was seen
  std::uint64_t last = 0;       // of a touch, its end; of others the value
};

inline void pack(const CheckedBytes& bytes, Event& event) noexcept {
  event.a = bytes.memory;
  event.b = std::uint64_t{bytes.owner} << 32U | std::uint64_t{bytes.word_bytes} << 8U | bytes.how;
  event.c = bytes.begin;
  event.d = bytes.last;
}

[[nodiscard]] inline CheckedBytes unpack(const Event& event) noexcept {
  return {event.a,
          static_cast<std::uint32_t>(event.b >> 32U),
          event.c,
          static_cast<std::uint8_t>(event.b),
          static_cast<std::uint8_t>(event.b >> 8U),
          event.d};
}

}  // namespace baton
