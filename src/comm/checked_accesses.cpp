#include "comm/checked_accesses.hpp"

#include <cstring>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "comm/address_book.hpp"
#include "comm/domain_state.hpp"
#include "comm/window_state.hpp"
#include "comm/world.hpp"

namespace baton::comm {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t mixed = (a ^ (b + 0x9e3779b97f4a7c15U + (a << 6U) + (a >> 2U))) * 0xbf58476d1ce4e5b9U;
  return mixed ^ (mixed >> 31U);
}

/// Jobs that follow each other in one process have windows of the same names.
std::uint64_t job_number(World& world) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, world.control().token, sizeof number);
  return number;
}

std::uint64_t memory_number(const CheckedPart& part) noexcept {
  return mix(mix(job_number(part.world), part.tag), part.owner);
}

std::uint64_t barrier_token(DomainState& domain, std::uint64_t epoch) noexcept {
  return mix(mix(job_number(domain.world()), domain.id()), epoch);
}

/// "put at relay.cpp:14"
TextId text_of_place(const char* operation, const Place& where) {
  thread_local std::map<std::tuple<const char*, const char*, std::uint32_t>, TextId> known;
  TextId& id = known[{operation, where.file, where.line}];
  if (id == 0) {
    id = events::text(where.line == 0 ? std::string(operation)
                                      : fmt::format("{} at {}:{}", operation, where.file, where.line));
  }
  return id;
}

Event event_of(EventKind kind, World& world) noexcept {
  const std::uint64_t now = ticks();
  return {.begin = now, .end = now, .kind = kind, .rank = world.rank()};
}

void record(EventKind kind, const CheckedPart& part, const CheckedBytes& bytes, const char* operation,
            const Place& where) {
  const TextId place = text_of_place(operation, where);
  Event event = event_of(kind, part.world);
  event.object = part.window;
  event.place = place;
  pack(bytes, event);
  events::record(event);
}

}  // namespace

void note_touch(const CheckedPart& part, std::size_t offset, std::size_t bytes, CheckedUse use, const char* operation,
                const Place& where) {
  if (bytes == 0) return;
  record(EventKind::touch, part,
         {.memory = memory_number(part),
          .owner = part.owner,
          .begin = offset,
          .how = static_cast<std::uint8_t>(use),
          .last = offset + bytes},
         operation, where);
}

void note_touch(World& world, const void* address, std::size_t bytes, CheckedUse use, const char* operation,
                const Place& where) {
  if (bytes == 0) return;
  const auto place = find_window(world, address, bytes);
  if (place) note_touch(place->window->checked_part(place->rank), place->offset, bytes, use, operation, where);
}

void note_change(const CheckedPart& part, std::size_t offset, std::size_t word_bytes, NotifyOp op, std::int64_t value,
                 const char* operation, const Place& where) {
  record(EventKind::change, part,
         {.memory = memory_number(part),
          .owner = part.owner,
          .begin = offset,
          .how = static_cast<std::uint8_t>(op),
          .word_bytes = static_cast<std::uint8_t>(word_bytes),
          .last = static_cast<std::uint64_t>(value)},
         operation, where);
}

void note_seen(const CheckedPart& part, std::size_t offset, std::size_t word_bytes, WaitCmp comparison,
               std::int64_t value, const char* operation, const Place& where) {
  record(EventKind::saw, part,
         {.memory = memory_number(part),
          .owner = part.owner,
          .begin = offset,
          .how = static_cast<std::uint8_t>(comparison),
          .word_bytes = static_cast<std::uint8_t>(word_bytes),
          .last = static_cast<std::uint64_t>(value)},
         operation, where);
}

void note_arrival(DomainState& domain, std::uint64_t epoch) {
  Event event = event_of(EventKind::hand, domain.world());
  event.a = barrier_token(domain, epoch);
  events::record(event);
}

void note_passing(DomainState& domain, std::uint64_t epoch) {
  Event event = event_of(EventKind::take, domain.world());
  event.a = barrier_token(domain, epoch);
  event.b = domain.size();
  events::record(event);
}

}  // namespace baton::comm
