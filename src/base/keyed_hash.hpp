// A hash that only those can make who have its key: SipHash-2-4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace baton {

using HashKey = std::array<std::uint8_t, 16>;

/// From the system's source of random numbers. Throws Error (system) if there is none.
[[nodiscard]] HashKey make_hash_key();

/// Any number of these do not help to make another one or to find the key.
[[nodiscard]] std::uint64_t keyed_hash(const HashKey& key, std::span<const std::byte> bytes) noexcept;

}  // namespace baton
