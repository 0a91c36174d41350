#include "base/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/trace_file.hpp"
#include "base/trace_followers.hpp"

namespace baton::events {

constinit std::atomic<EventLevel> recorded_level{EventLevel::last};

namespace {

/// Counts traces that began or ended: a chunk of another number is of a trace that is over.
constinit std::atomic<std::uint64_t> trace_number{0};

/// A text that a thread named lately, by where it lies and, of a place, its line.
struct Remembered {
  const char* where = nullptr;
  std::uint32_t line = 0;
  TextId id = 0;
  const std::string* text = nullptr;
};
constexpr std::size_t kRemembered = 64;
/// Signals of which a thread remembers its last notify.
constexpr std::size_t kRememberedNotifies = 16;
struct RememberedNotify {
  NotifyKey key;
  std::uint64_t number = 0;  // of its event in the ring
};

/// A thread's rings. The object stays when the thread ends, and serves another one.
struct Writer {
  std::uint32_t thread = 0;  // counted in this process
  bool taken = false;
  RingWriter last;
  EventArea::Ring* ring = nullptr;
  std::unique_ptr<EventArea::Ring> own_ring;  // where `ring` is, unless others can read it
  RingWriter traced;
  FileMapping chunk;  // where `traced` writes
  std::shared_ptr<TraceHeader> header;
  std::uint64_t trace = 0;       // trace_number of `chunk`
  std::uint64_t room_until = 0;  // events of `traced` that do not overwrite what is nowhere else
  // Not thread-local: there is little room for what is, in a library that a program loads late.
  std::array<Remembered, kRemembered> remembered;
  std::array<RememberedNotify, kRememberedNotifies> notifies;
  [[nodiscard]] bool traces_now() const noexcept { return trace == trace_number.load(std::memory_order_relaxed); }
};

/// A trace that this process writes.
struct Session {
  explicit Session(const std::string& path) : file(path) {}

  TraceFile file;
  std::uint32_t process = 0;
  FileMapping texts;
};

struct Registry {
  std::mutex mutex;
  std::deque<Writer> writers;
  std::unordered_map<std::string, TextId> text_ids;
  std::vector<const std::string*> texts;  // by number, from 1 on
  std::unique_ptr<Session> session;
  std::shared_ptr<void> shared_memory;
  EventArea* area = nullptr;

  [[nodiscard]] TextId text(std::string_view text);
  void seat(Writer& writer) const;
  [[nodiscard]] bool make_room(Writer& writer);
  void open_session(const std::string& path);
  void enter_session();
  void add_to_session(TextId id);
  void give_up(const Error& error);
};

/// What a thread looks at with each event: no call to find out where it is.
[[gnu::tls_model("initial-exec")]] thread_local Writer* own_writer = nullptr;

/// Never destroyed: threads record until the very end.
Registry& registry() {
  static auto* const only = [] {
    auto* const made = new Registry;
    // A forked child has one thread and no place in memory that its parent shares with others.
    static_cast<void>(::pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
                                       [] {
                                         Registry& all = registry();
                                         all.area = nullptr;
                                         for (Writer& writer : all.writers) {
                                           writer.taken = &writer == own_writer;
                                           if (writer.own_ring == nullptr) all.seat(writer);
                                         }
                                         if (all.session) all.session->texts = FileMapping();
                                         trace_number.fetch_add(1, std::memory_order_relaxed);
                                         all.mutex.unlock();
                                       }));
    return made;
  }();
  return *only;
}

/// Gives the writer of a thread that ends to the next one.
struct Leaving {
  ~Leaving() {
    Writer* const writer = std::exchange(own_writer, nullptr);
    if (writer == nullptr) return;
    const std::lock_guard lock(registry().mutex);
    writer->taken = false;
  }
};

Writer& enter_thread() {
  thread_local const Leaving leaving;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  auto free = std::ranges::find(all.writers, false, &Writer::taken);
  if (free == all.writers.end()) {
    all.writers.emplace_back().thread = static_cast<std::uint32_t>(all.writers.size() - 1);
    free = all.writers.end() - 1;
    all.seat(*free);
  }
  free->taken = true;
  own_writer = &*free;
  return *free;
}

Remembered& remembered(const char* where, std::uint32_t line) {
  Writer& writer = own_writer != nullptr ? *own_writer : enter_thread();
  const std::uint64_t mixed = (reinterpret_cast<std::uintptr_t>(where) ^ line) * 0x9e3779b97f4a7c15U;
  return writer.remembered[(mixed >> 32U) % kRemembered];
}

}  // namespace

/// With the lock. Its old events go along.
void Registry::seat(Writer& writer) const {
  EventArea::Ring* ring = nullptr;
  if (area != nullptr) {
    const std::uint32_t number = area->rings_taken.load(std::memory_order_relaxed);
    if (number < kRingsPerArea) {
      area->rings_taken.store(number + 1, std::memory_order_relaxed);
      ring = &area->rings[number];
    }
  }
  std::unique_ptr<EventArea::Ring> own;
  if (ring == nullptr) {
    own = std::make_unique<EventArea::Ring>();
    ring = own.get();
  }
  RingWriter last(ring->ring, ring->slots, kRingEvents, kEventClaim);
  if (writer.ring != nullptr) {
    for (const auto& words : read_ring(writer.ring->ring, writer.ring->slots, kRingEvents).events) last.write(words);
  }
  writer.ring = ring;
  writer.last = last;
  writer.notifies = {};  // events have other numbers here
  writer.own_ring = std::move(own);
}

TextId Registry::text(std::string_view text) {
  const auto [found, added] = text_ids.try_emplace(std::string(text), static_cast<TextId>(texts.size() + 1));
  if (!added) return found->second;
  texts.push_back(&found->first);
  // What does not fit is known to this process alone.
  if (area != nullptr) static_cast<void>(append_text(area->text_header, area->text, found->second, found->first));
  if (session && session->texts.data() != nullptr) {
    try {
      add_to_session(found->second);
    } catch (const Error& error) {
      give_up(error);
    }
  }
  return found->second;
}

void Registry::add_to_session(TextId id) {
  const std::string& text = *texts[id - 1];
  const auto append = [&] {
    auto& chunk = *static_cast<TextChunk*>(session->texts.data());
    return append_text(chunk.text_header, chunk.text, id, std::string_view(text).substr(0, sizeof chunk.text / 2));
  };
  if (append()) return;
  session->texts = session->file.add_chunk(ChunkKind::texts, {.process = session->process});
  static_cast<void>(append());
}

void Registry::open_session(const std::string& path) {
  session = std::make_unique<Session>(path);
  try {
    enter_session();
  } catch (...) {
    session.reset();
    throw;
  }
}

void Registry::enter_session() {
  session->process = session->file.add_process();
  session->texts = session->file.add_chunk(ChunkKind::texts, {.process = session->process});
  for (std::size_t i = 0; i < texts.size(); ++i) add_to_session(static_cast<TextId>(i + 1));
}

/// Programs need not fail because a disk is full.
void Registry::give_up(const Error& error) {
  session.reset();
  trace_number.fetch_add(1, std::memory_order_relaxed);
  recorded_level.store(EventLevel::last, std::memory_order_relaxed);
  log::warn("the trace cannot be written: {}; no more follows", error.message());
}

bool Registry::make_room(Writer& writer) {
  const std::lock_guard lock(mutex);
  if (!session) return false;
  try {
    if (writer.traces_now()) {
      session->file.add_full(*static_cast<EventChunk*>(writer.chunk.data()));
      writer.room_until += kChunkEvents;
      return true;
    }
    // In a forked child the session is its parent's.
    if (session->texts.data() == nullptr) enter_session();
    writer.chunk = session->file.add_chunk(ChunkKind::live, {.process = session->process, .thread = writer.thread});
    writer.header = session->file.shared_header();
    auto& chunk = *static_cast<EventChunk*>(writer.chunk.data());
    writer.traced = RingWriter(chunk.ring, chunk.slots, kChunkEvents, kEventClaim);
    writer.room_until = kChunkEvents;
    writer.trace = trace_number.load(std::memory_order_relaxed);
    return true;
  } catch (const Error& error) {
    give_up(error);
    return false;
  }
}

void record(const EventRecord& event) noexcept {
  Writer* writer = own_writer;
  if (writer == nullptr) [[unlikely]]
    writer = &enter_thread();
  const RingWriter::Words words = words_of(event);
  if (info_of(event.kind).level == EventLevel::last) writer->last.write(words);
  const EventLevel level = recorded_level.load(std::memory_order_relaxed);
  const bool is_checked = level == EventLevel::check;
  if (level < EventLevel::trace || (is_checked && !is_for_checks(event.kind))) return;
  const bool has_room = writer->traces_now() && writer->traced.written() < writer->room_until;
  if (!has_room && !registry().make_room(*writer)) return;
  if (is_checked) {
    EventRecord checked = event;
    checked.begin = writer->header->check_clock.next();
    if (info_of(event.kind).level != EventLevel::check) checked.end = checked.begin;
    return writer->traced.write(words_of(checked));
  }
  writer->traced.write(words);
}

bool notified_again(const NotifyKey& key, std::uint64_t now, std::uint64_t after) noexcept {
  if (tracing()) return false;
  Writer* writer = own_writer;
  if (writer == nullptr) [[unlikely]]
    writer = &enter_thread();
  RememberedNotify& last = writer->notifies[key.hash() % kRememberedNotifies];
  EventSlot* const slot = last.key == key ? writer->last.recent(last.number) : nullptr;
  if (slot == nullptr) {
    last = {key, writer->last.written()};
    return false;
  }
  const auto bring_up_to_date = [slot](std::size_t offset, std::uint64_t value) {
    slot->words[offset / sizeof value].store(value, std::memory_order_relaxed);
  };
  bring_up_to_date(offsetof(EventRecord, begin), now);
  bring_up_to_date(offsetof(EventRecord, end), now);
  bring_up_to_date(offsetof(EventRecord, c), after);
  return true;
}

TextId text(std::string_view text) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.text(text);
}

TextId text_of(const char* name) {
  Remembered& entry = remembered(name, 0);
  // The memory may have been that of a library that is gone.
  if (entry.where == name && entry.line == 0 && *entry.text == name) return entry.id;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const TextId id = all.text(name);
  entry = {name, 0, id, all.texts[id - 1]};
  return id;
}

TextId text_of(const Place& place) {
  if (place.line == 0) return 0;
  Remembered& entry = remembered(place.file, place.line);
  if (entry.where != place.file || entry.line != place.line) {
    entry = {place.file, place.line, text(fmt::format("{}:{}", place.file, place.line)), nullptr};
  }
  return entry.id;
}

void begin() {
  static const bool done = [] {
    const std::string& wish = options().trace;
    if (wish == "off") {
      recorded_level.store(EventLevel::off, std::memory_order_relaxed);
    } else if (wish != "last") {
      start_trace(wish, options().check ? EventLevel::check : EventLevel::trace);
    }
    return true;
  }();
  static_cast<void>(done);
}

void start_trace(const std::string& path, EventLevel level) {
  Registry& all = registry();
  const std::string file = std::filesystem::absolute(path).string();
  {
    const std::lock_guard lock(all.mutex);
    if (all.session) {
      fail(Code::invalid_argument, "a trace is being written to {}, so none can be written to {}",
           all.session->file.path(), path);
    }
    all.open_session(file);
    trace_number.fetch_add(1, std::memory_order_relaxed);
    recorded_level.store(level, std::memory_order_relaxed);
  }
  static const int at_exit = std::atexit([] { stop_trace(); });
  static_cast<void>(at_exit);
  const std::uint64_t now = ticks();
  record({.begin = now,
          .end = now,
          .kind = EventKind::process,
          .object = text(program_invocation_short_name),
          .a = static_cast<std::uint64_t>(::getpid())});
  tell_followers({.path = file, .level = level});
}

void stop_trace() noexcept {
  if (trace_path()) tell_followers({});
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!all.session) return;
  recorded_level.store(EventLevel::last, std::memory_order_relaxed);
  trace_number.fetch_add(1, std::memory_order_relaxed);
  all.session.reset();
}

std::optional<std::string> trace_path() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!all.session) return std::nullopt;
  return all.session->file.path();
}

void share(const std::shared_ptr<void>& memory, EventArea& area) {
  if (own_writer == nullptr) enter_thread();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (all.shared_memory) return;
  all.shared_memory = memory;
  all.area = &area;
  for (std::size_t i = 0; i < all.texts.size(); ++i) {
    static_cast<void>(append_text(area.text_header, area.text, static_cast<TextId>(i + 1), *all.texts[i]));
  }
  all.seat(*own_writer);
}

LastEvents last_events() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  LastEvents last;
  for (const Writer& writer : all.writers) {
    for (const auto& words : read_ring(writer.ring->ring, writer.ring->slots, kRingEvents).events) {
      last.events.push_back(event_of(words));
    }
  }
  std::ranges::stable_sort(last.events, {}, &EventRecord::written);
  for (std::size_t i = 0; i < all.texts.size(); ++i) last.texts.emplace(static_cast<TextId>(i + 1), *all.texts[i]);
  return last;
}

}  // namespace baton::events
