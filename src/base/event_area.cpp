#include "base/event_area.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <baton/signal.hpp>

namespace baton {
namespace {

std::string quoted(std::string_view text) { return text.empty() ? "?" : fmt::format("\"{}\"", text); }

/// Values of signals travel as 64-bit numbers.
std::int32_t value_of(std::uint64_t number) noexcept { return static_cast<std::int32_t>(number); }

WaitCmp comparison_of(const EventRecord& event) noexcept {
  const std::uint64_t number = event.c >> 32U;
  return number <= static_cast<std::uint64_t>(WaitCmp::le) ? static_cast<WaitCmp>(number) : WaitCmp::ge;
}

std::string_view waits(const EventRecord& event) noexcept {
  if (event.end == 0) return "waits";
  switch (event.outcome) {
    case EventOutcome::expired: return "waited until its deadline";
    case EventOutcome::failed: return "waited in vain";
    case EventOutcome::done:
    case EventOutcome::deferred:
    case EventOutcome::not_run: break;
  }
  return "waited";
}

std::string what(const EventRecord& event, const LastEvents& texts) {
  const std::string object = quoted(texts.text(event.object));
  switch (event.kind) {
    case EventKind::none: break;
    case EventKind::joined: return fmt::format("joined {} of {} ranks", object, event.a);
    case EventKind::left: return fmt::format("left {}", object);
    case EventKind::put:
      return fmt::format("put {} bytes to byte {} of {} at rank {}", event.c, event.b, object, event.a);
    case EventKind::get:
      return fmt::format("got {} bytes from byte {} of {} at rank {}", event.c, event.b, object, event.a);
    case EventKind::notify:
      return fmt::format("notified signal {} of {} at rank {}, which has {} by it", event.b, object, event.a,
                         value_of(event.c));
    case EventKind::wait:
      return fmt::format("{} for signal {} of {} (has {}, needs {} {})", waits(event), event.b, object,
                         value_of(event.d), symbol_of(comparison_of(event)), value_of(event.c));
    case EventKind::barrier: return fmt::format("{} for barrier {} of {}", waits(event), event.a, object);
    case EventKind::deferral:
      return fmt::format("had a task that waited for signal {} of {} (needs >= {})", event.b, object,
                         value_of(event.c));
    case EventKind::allocation: return fmt::format("made the window {} with {} ranks", object, event.b);
    case EventKind::collective:
      return fmt::format("took part in {} of {} bytes ({})", texts.text(event.object), event.a,
                         texts.text(static_cast<TextId>(event.b)));
    case EventKind::run: return fmt::format("ran {} tasks", event.a);
    case EventKind::task: return fmt::format("completed task {} '{}'", event.a, texts.text(event.object));
    case EventKind::kernel:
      return fmt::format("ran block {} of task {} '{}'", event.b, event.a, texts.text(event.object));
    case EventKind::edge:
      return fmt::format("submitted task {}, which waits for task {} because of {}", event.a, event.b, object);
    case EventKind::copy: return fmt::format("moved {} bytes to {}", event.a, object);
    case EventKind::compile: return fmt::format("{} {}", event.a != 0 ? "found" : "compiled", object);
    case EventKind::node_task: return fmt::format("ran task {} {}", event.a, object);
    case EventKind::node_run: return fmt::format("ran {} tasks", event.a);
    case EventKind::lane: return fmt::format("has {}", object);
    case EventKind::reach:
      return event.a == kAllOwners ? fmt::format("{} for all ranks of {} in a collective", waits(event), object)
                                   : fmt::format("{} for rank {} of {} in a collective", waits(event), event.a, object);
    case EventKind::touch: return fmt::format("touched bytes {} to {} of {}", event.c, event.d - 1, object);
    case EventKind::change: return fmt::format("changed the word at byte {} of {}", event.c, object);
    case EventKind::saw: return fmt::format("saw the word at byte {} of {}", event.c, object);
    case EventKind::hand: return "came to what others wait for";
    case EventKind::take: return "had what it waited for";
    case EventKind::touch_rows: return fmt::format("touched rows from byte {} of {} on", event.c, object);
    case EventKind::begun: return fmt::format("began task {}", event.a);
    case EventKind::fresh: return fmt::format("got bytes {} to {} of {}", event.c, event.d - 1, object);
    case EventKind::arrival:
      return fmt::format("got a notify of signal {} of {} from rank {} and has {} by it", event.b, object, event.d,
                         static_cast<std::int32_t>(event.c));
    case EventKind::process: return fmt::format("is process {} {}", event.a, object);
  }
  return "did something that this version does not know";
}

}  // namespace

LastEvents read_area(const EventArea& area) {
  LastEvents last;
  for (const EventArea::Ring& ring : area.rings) {
    for (const auto& words : read_ring(ring.ring, ring.slots, kRingEvents).events)
      last.events.push_back(event_of(words));
  }
  std::ranges::stable_sort(last.events, {}, &EventRecord::written);
  read_texts(area.text_header, area.text, last.texts);
  return last;
}

std::string describe(const EventRecord& event, const LastEvents& texts) {
  const std::string who = event.rank == kNoRank ? "the program" : fmt::format("rank {}", event.rank);
  const std::string_view place = texts.text(event.place);
  return fmt::format("{} {}{}", who, what(event, texts), place.empty() ? "" : fmt::format(" ({})", place));
}

}  // namespace baton
