// Tells `baton check` what ranks do with windows: what they touch, and what orders them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <baton/place.hpp>
#include <baton/signal.hpp>

#include "base/checked_order.hpp"

namespace baton::comm {

class DomainState;
class World;

/// One part of a window, as a rank sees it.
struct CheckedPart {
  std::uint32_t rank;  // who sees it
  TextId window;       // its name
  std::uint64_t window_number;
  std::uint32_t owner;
};
/// The same in all processes, and for no other window.
[[nodiscard]] std::uint64_t window_number(World& world, std::uint64_t tag) noexcept;

/// Before the bytes are touched.
void note_touch(const CheckedPart& part, std::size_t offset, std::size_t bytes, CheckedUse use, const char* operation,
                const EventSource& from);
void note_rows(const CheckedPart& part, std::size_t offset, const CheckedRows& rows, CheckedUse use,
               const char* operation, const EventSource& from);
/// The bytes of [address, address + bytes) that lie in a window of the rank.
void note_touch(World& world, const void* address, std::size_t bytes, CheckedUse use, const char* operation,
                const Place& where);
/// Before a word changes, and after it was seen to compare so.
void note_change(const CheckedPart& part, std::size_t offset, std::size_t word_bytes, NotifyOp op, std::int64_t value,
                 const char* operation, const EventSource& from);
void note_seen(const CheckedPart& part, std::size_t offset, std::size_t word_bytes, WaitCmp comparison,
               std::int64_t value, const char* operation, const EventSource& from);
/// Before a rank arrives at a barrier, and after it has passed it.
void note_arrival(DomainState& domain, std::uint64_t epoch);
void note_passing(DomainState& domain, std::uint64_t epoch);

}  // namespace baton::comm
