// Where the last events of one process lie, so that others can read them, also after its death. A part of the control
// segment of a job. The layout is pinned with wire::kControlVersion.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/event_ring.hpp"
#include "base/text_arena.hpp"

namespace baton {

inline constexpr std::uint64_t kRingEvents = 1024;
/// Threads that come later keep their events to their process.
inline constexpr std::size_t kRingsPerArea = 4;
inline constexpr std::size_t kAreaTextBytes = 16 * 1024 - sizeof(TextArenaHeader);

/// Zero is its initial state: only what is used takes memory.
struct alignas(64) EventArea {
  struct alignas(64) Ring {
    EventRing ring;
    EventSlot slots[kRingEvents];
  };
  /// How many rings have, or had, a thread.
  std::atomic<std::uint32_t> rings_taken;
  std::byte pad[60];
  TextArenaHeader text_header;
  std::byte text[kAreaTextBytes];
  Ring rings[kRingsPerArea];
};
static_assert(sizeof(EventArea) == 64 + 16 * 1024 + kRingsPerArea * 64 * (1 + kRingEvents));

/// Events with the texts they name.
struct LastEvents {
  std::vector<EventRecord> events;  // the oldest first
  std::map<TextId, std::string> texts;

  [[nodiscard]] std::string_view text(TextId id) const noexcept {
    const auto found = texts.find(id);
    return found == texts.end() ? std::string_view() : std::string_view(found->second);
  }
};

/// What is in `area` now. Never waits; the bytes may come from anybody.
[[nodiscard]] LastEvents read_area(const EventArea& area);

/// One line without its time: `rank 2 notify signal 3 of "flags" at rank 0, which has 7 by it (relay.cpp:20)`.
[[nodiscard]] std::string describe(const EventRecord& event, const LastEvents& texts);

}  // namespace baton
