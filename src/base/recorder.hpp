// Recording events: each thread has a ring of its last ones, and, while a trace is written, chunks of its file.
//
//   if (events::wants(EventKind::put)) events::record({...});
//
// Off, an event costs a load and a branch; recorded, some nanoseconds and no lock.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <baton/place.hpp>

#include "base/event.hpp"
#include "base/event_area.hpp"
#include "base/ticks.hpp"

namespace baton::events {

/// What is recorded now. Use wants().
extern std::atomic<EventLevel> recorded_level;

[[nodiscard]] inline bool wants(EventKind kind) noexcept {
  const EventLevel recorded = recorded_level.load(std::memory_order_relaxed);
  const EventLevel of_kind = info_of(kind).level;
  if (of_kind == EventLevel::last) return recorded >= EventLevel::last;
  return recorded == of_kind || (recorded == EventLevel::check && is_for_checks(kind));
}
/// Whether everything goes to a file: for what must be noted beforehand.
[[nodiscard]] inline bool tracing() noexcept {
  return recorded_level.load(std::memory_order_relaxed) == EventLevel::trace;
}

/// Writes the event to the rings that want its kind. Any thread; never waits for another one but when it takes a new
/// chunk of a file, once in a thousand events.
void record(const EventRecord& event) noexcept;

/// What a notify is but for its time and the value that the signal has by it.
struct NotifyKey {
  const char* file = nullptr;
  std::uint32_t line = 0;
  TextId window = 0;
  std::uint64_t signal = 0;
  std::uint32_t owner = 0;
  std::uint32_t rank = kNoRank;
  std::int32_t value = 0;
  std::uint32_t lane = 0;

  [[nodiscard]] bool operator==(const NotifyKey&) const = default;
  [[nodiscard]] std::uint64_t hash() const noexcept { return signal ^ owner ^ line ^ window; }
};

/// While no trace is written, a notify like one of the last of this thread is no new event: the event of that one gets
/// the new time and value, which takes a third as long. If there is none, false: then the caller records the event, the
/// next one of this thread.
[[nodiscard]] bool notified_again(const NotifyKey& key, std::uint64_t now, std::uint64_t after) noexcept;

/// The number of a text, for EventRecord::object. Takes a lock: keep the number where it is needed often.
[[nodiscard]] TextId text(std::string_view text);
/// The same for a text that stays where it is, such as the name of a kernel: the thread remembers the last ones.
[[nodiscard]] TextId text_of(const char* name);
/// "file:line"; 0 if the place is not known. The thread remembers the last ones.
[[nodiscard]] TextId text_of(const Place& place);

/// Does what BATON_TRACE says; the first call of the process. What makes something that records calls it.
void begin();

/// Records everything up to `level`, to a file, until stop_trace(). Throws Error (invalid_argument) if a trace is being
/// written, Error (system) if the file cannot be made.
void start_trace(const std::string& path, EventLevel level = EventLevel::trace);
/// Does nothing if none is written. Threads that are recording an event may still complete it.
void stop_trace() noexcept;
/// The file of the trace that is being written.
[[nodiscard]] std::optional<std::string> trace_path();

/// From now on the rings of this process lie in `area`, as far as it has room: of the calling thread, and of those that
/// begin to record later. The first call of the process; others do nothing. `memory` keeps the area, for good.
void share(const std::shared_ptr<void>& memory, EventArea& area);

/// The last events of all threads of this process, also of those that have ended.
[[nodiscard]] LastEvents last_events();

}  // namespace baton::events
