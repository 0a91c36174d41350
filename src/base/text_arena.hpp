// Texts with numbers, appended to memory that others read at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/event.hpp"

namespace baton {

/// Lies in front of the bytes. Zero is the initial state.
struct alignas(64) TextArenaHeader {
  /// Bytes in use. They are never changed again.
  std::atomic<std::uint64_t> used;
};
static_assert(sizeof(TextArenaHeader) == 64);

/// One writer at a time. False if the text does not fit; nothing is written then.
[[nodiscard]] bool append_text(TextArenaHeader& header, std::span<std::byte> bytes, TextId id,
                               std::string_view text) noexcept;

/// Adds the texts of the arena to `texts`. The bytes may come from anybody.
void read_texts(const TextArenaHeader& header, std::span<const std::byte> bytes, std::map<TextId, std::string>& texts);

}  // namespace baton
