#include "comm/checked_accesses.hpp"

#include <cstring>

#include "base/access_text.hpp"
#include "comm/address_book.hpp"
#include "comm/domain_state.hpp"
#include "comm/window_state.hpp"
#include "comm/world.hpp"

namespace baton::comm {
namespace {

/// Jobs that follow each other in one process have windows of the same names.
std::uint64_t job_number(World& world) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, world.control().token, sizeof number);
  return number;
}

std::uint64_t memory_number(const CheckedPart& part) noexcept { return mix(part.window_number, part.owner); }

std::uint64_t barrier_token(DomainState& domain, std::uint64_t epoch) noexcept {
  return mix(mix(job_number(domain.world()), domain.id()), epoch);
}

void record(EventKind kind, const CheckedPart& part, const CheckedBytes& bytes, const char* operation,
            const EventSource& from) {
  EventRecord event{.end = from.activity,
                    .kind = kind,
                    .rank = part.rank,
                    .object = part.window,
                    .place = text_of_access(operation, from)};
  pack(bytes, event);
  events::record(event);
}

}  // namespace

std::uint64_t window_number(World& world, std::uint64_t tag) noexcept { return mix(job_number(world), tag); }

void note_touch(const CheckedPart& part, std::size_t offset, std::size_t bytes, CheckedUse use, const char* operation,
                const EventSource& from) {
  if (bytes == 0) return;
  record(EventKind::touch, part,
         {.memory = memory_number(part),
          .owner = part.owner,
          .begin = offset,
          .how = static_cast<std::uint8_t>(use),
          .last = offset + bytes},
         operation, from);
}

void note_rows(const CheckedPart& part, std::size_t offset, const CheckedRows& rows, CheckedUse use,
               const char* operation, const EventSource& from) {
  record(EventKind::touch_rows, part,
         {.memory = memory_number(part),
          .owner = part.owner,
          .begin = offset,
          .how = static_cast<std::uint8_t>(use),
          .last = rows.packed()},
         operation, from);
}

void note_touch(World& world, const void* address, std::size_t bytes, CheckedUse use, const char* operation,
                const Place& where) {
  if (bytes == 0) return;
  const auto place = find_window(world, address, bytes);
  if (place)
    note_touch(place->window->checked_part(place->rank), place->offset, bytes, use, operation, {.where = where});
}

void note_change(const CheckedPart& part, std::size_t offset, std::size_t word_bytes, NotifyOp op, std::int64_t value,
                 const char* operation, const EventSource& from) {
  record(EventKind::change, part,
         {.memory = memory_number(part),
          .owner = part.owner,
          .begin = offset,
          .how = static_cast<std::uint8_t>(op),
          .word_bytes = static_cast<std::uint8_t>(word_bytes),
          .last = static_cast<std::uint64_t>(value)},
         operation, from);
}

void note_seen(const CheckedPart& part, std::size_t offset, std::size_t word_bytes, WaitCmp comparison,
               std::int64_t value, const char* operation, const EventSource& from) {
  record(EventKind::saw, part,
         {.memory = memory_number(part),
          .owner = part.owner,
          .begin = offset,
          .how = static_cast<std::uint8_t>(comparison),
          .word_bytes = static_cast<std::uint8_t>(word_bytes),
          .last = static_cast<std::uint64_t>(value)},
         operation, from);
}

void note_arrival(DomainState& domain, std::uint64_t epoch) {
  note_hand({domain.world().rank()}, barrier_token(domain, epoch));
}

void note_passing(DomainState& domain, std::uint64_t epoch) {
  note_take({domain.world().rank()}, barrier_token(domain, epoch));
}

}  // namespace baton::comm
