// Events: what happened, as records of one size. This is the one file that knows their kinds.
//
// Threads write them to rings (base/event_ring.hpp), through base/recorder.hpp. A new kind needs a row in
// kEventKinds; docs/reference/trace.md lists the fields.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <baton/place.hpp>

namespace baton {

/// How much is recorded. Each level includes those below it, but for the last one.
enum class EventLevel : std::uint8_t {
  off,
  last,   // what happens seldom enough to be recorded always: a ring of each thread keeps the last of it
  trace,  // everything that happens, to a file
  check,  // instead of that, what is touched and what orders it, for `baton check`
};

/// Numbers are those of files: they stay.
enum class EventKind : std::uint8_t {
  none = 0,
  joined = 1,
  left = 2,
  put = 3,
  get = 4,
  notify = 5,
  wait = 6,
  barrier = 7,
  collective = 8,
  run = 9,
  task = 10,
  kernel = 11,
  edge = 12,
  copy = 13,
  compile = 14,
  node_task = 15,
  node_run = 16,
  lane = 17,
  process = 18,
  reach = 19,
  touch = 20,
  change = 21,
  saw = 22,
  hand = 23,
  take = 24,
  touch_rows = 25,
  begun = 26,
  fresh = 27,
  arrival = 28,
  deferral = 29,
  allocation = 30,
};

/// What a span of time counts as, in tables and colours.
enum class EventClass : std::uint8_t {
  mark,  // an instant
  work,
  waiting,
  copying,
  enclosing,  // it contains others: the time inside belongs to them
};

struct EventKindInfo {
  EventKind kind;
  std::string_view name;
  EventLevel level;
  EventClass counts_as;
  /// What the text `object` and the numbers a, b, c, d are; empty: not used.
  std::string_view object;
  std::array<std::string_view, 4> numbers;
};

// clang-format off
inline constexpr EventKindInfo kEventKinds[] = {
    {EventKind::none, "none", EventLevel::trace, EventClass::mark, "", {}},
    {EventKind::joined, "joined", EventLevel::last, EventClass::mark, "job", {"ranks"}},
    {EventKind::left, "left", EventLevel::last, EventClass::mark, "job", {}},
    {EventKind::put, "put", EventLevel::trace, EventClass::copying, "window", {"peer", "offset", "bytes"}},
    {EventKind::get, "get", EventLevel::trace, EventClass::copying, "window", {"peer", "offset", "bytes"}},
    // `after`: the value that the signal has by it. With the signal it is the sequence that joins a wait to the notify
    // that ended it. The sign of values is lost in the numbers: they are 32-bit integers.
    {EventKind::notify, "notify", EventLevel::last, EventClass::mark, "window", {"owner", "signal", "after", "value"}},
    // Without a trace, of waits and barriers only those that slept. Before the first sleep it is written without its end.
    {EventKind::wait, "wait", EventLevel::last, EventClass::waiting, "window", {"owner", "signal", "needs", "has"}},
    {EventKind::barrier, "barrier", EventLevel::last, EventClass::waiting, "domain", {"epoch", "ranks"}},
    // The name of the algorithm is a text, like `object`.
    {EventKind::collective, "collective", EventLevel::trace, EventClass::enclosing, "operation", {"bytes", "algorithm", "ranks"}},
    {EventKind::run, "run", EventLevel::trace, EventClass::enclosing, "", {"tasks"}},
    // From the start of its kernel to the return; the other times are ticks. Of a task with several kernels: from the
    // first start to the last return.
    {EventKind::task, "task", EventLevel::trace, EventClass::work, "kernel", {"task", "submitted", "ready", "completed"}},
    // One of several kernels of a task.
    {EventKind::kernel, "kernel", EventLevel::trace, EventClass::work, "kernel", {"task", "block"}},
    {EventKind::edge, "edge", EventLevel::trace, EventClass::mark, "tensor", {"task", "after", "chip"}},
    {EventKind::copy, "copy", EventLevel::trace, EventClass::copying, "to", {"bytes", "number"}},
    {EventKind::compile, "compile", EventLevel::last, EventClass::work, "kernel", {"found"}},
    // What a chip does for a task of its node; edges between such tasks have the number of the node as their chip.
    {EventKind::node_task, "node task", EventLevel::trace, EventClass::enclosing, "callable", {"task", "node"}},
    {EventKind::node_run, "node run", EventLevel::trace, EventClass::enclosing, "", {"tasks", "node"}},
    {EventKind::lane, "lane", EventLevel::trace, EventClass::mark, "name", {}},
    {EventKind::process, "process", EventLevel::trace, EventClass::mark, "program", {"pid"}},
    // A wait inside a collective, for a word of a rank that only grows. The rank is 2^64 - 1 if it is for all of them.
    {EventKind::reach, "wait for rank", EventLevel::last, EventClass::waiting, "domain", {"owner", "word", "needs"}},
    // For `baton check`; base/checked_event.hpp has the numbers. A touch is written before the access, a change before
    // the word changes, what was seen after it was.
    {EventKind::touch, "touch", EventLevel::check, EventClass::mark, "window", {"memory", "owner, use", "begin", "end"}},
    {EventKind::change, "change", EventLevel::check, EventClass::mark, "window", {"memory", "owner, operation", "offset", "value"}},
    {EventKind::saw, "saw", EventLevel::check, EventClass::mark, "window", {"memory", "owner, comparison", "offset", "value"}},
    // Taking a token comes after all handing it over.
    {EventKind::hand, "hand", EventLevel::check, EventClass::mark, "", {"token"}},
    {EventKind::take, "take", EventLevel::check, EventClass::mark, "", {"token"}},
    // Several touches of one instruction: rows of a matrix.
    {EventKind::touch_rows, "touch rows", EventLevel::check, EventClass::mark, "window", {"memory", "owner, use", "begin", "rows"}},
    // An activity begins that runs a task: after its submission, and after the tasks that it has edges to.
    {EventKind::begun, "begun", EventLevel::check, EventClass::mark, "", {"task", "chip"}},
    // Memory that nobody uses any more is given to somebody else.
    {EventKind::fresh, "fresh", EventLevel::check, EventClass::mark, "memory", {"memory", "owner", "begin", "end"}},
    // A notify from a rank of another host has changed the signal: only its owner knows what it has then.
    {EventKind::arrival, "arrival", EventLevel::trace, EventClass::mark, "window", {"owner", "signal", "after", "from"}},
    // What a task of a chip waited for without a core: as a wait.
    {EventKind::deferral, "deferral", EventLevel::trace, EventClass::waiting, "window", {"owner", "signal", "needs"}},
    // A window is made by all members of a domain together.
    {EventKind::allocation, "allocation", EventLevel::trace, EventClass::waiting, "window", {"sequence", "ranks", "bytes"}},
};
// clang-format on
inline constexpr std::size_t kEventKindCount = std::size(kEventKinds);

namespace detail {
constexpr bool kinds_are_in_order() {
  for (std::size_t i = 0; i < kEventKindCount; ++i) {
    if (static_cast<std::size_t>(kEventKinds[i].kind) != i) return false;
  }
  return true;
}
}  // namespace detail
static_assert(detail::kinds_are_in_order());

/// `kind` may come from a file: what is unknown counts as none.
[[nodiscard]] constexpr const EventKindInfo& info_of(EventKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return kEventKinds[index < kEventKindCount ? index : 0];
}

/// Whether `baton check` reads events of this kind. A file for it has no others, and their begins are numbers of
/// CheckClock (base/check_clock.hpp).
[[nodiscard]] constexpr bool is_for_checks(EventKind kind) noexcept {
  return kind == EventKind::joined || kind == EventKind::left || kind == EventKind::edge ||
         info_of(kind).level == EventLevel::check;
}

/// How it ended.
enum class EventOutcome : std::uint8_t {
  done,
  deferred,  // of a task: its conditions held later than its kernel returned
  failed,
  not_run,  // of a task: another one's failure kept it from running
  expired,  // of a wait: its deadline passed
};
inline constexpr EventOutcome kLastEventOutcome = EventOutcome::expired;

/// Of an event that belongs to no rank.
inline constexpr std::uint32_t kNoRank = 0xffff'ffff;

/// The owner of a wait for all ranks of a domain.
inline constexpr std::uint64_t kAllOwners = ~std::uint64_t{0};

/// Which activity of a rank: its program, one of the cores of its chip, an engine.
inline constexpr std::uint16_t kProgramLane = 0;
inline constexpr std::uint16_t kFirstEngineLane = 0x8000;
[[nodiscard]] constexpr std::uint16_t core_lane(int number) noexcept { return static_cast<std::uint16_t>(1 + number); }
[[nodiscard]] constexpr std::uint16_t engine_lane(int number) noexcept {
  return static_cast<std::uint16_t>(kFirstEngineLane + number);
}

/// Which of the things that go on in a rank at the same time, for `baton check`: one execution of a kernel, a session
/// of an engine. 0: its program.
using Activity = std::uint64_t;

/// Who makes a call that is recorded.
struct EventSource {
  Place where{};
  std::uint16_t lane = kProgramLane;
  Activity activity = 0;
  const char* kernel = nullptr;
};

/// Names a text of the process that recorded it (base/event_area.hpp). 0: none.
using TextId = std::uint32_t;

/// One cache line. The layout is that of files: change kTraceVersion with it.
struct EventRecord {
  std::uint64_t begin = 0;  // ticks (base/ticks.hpp)
  std::uint64_t end = 0;    // the same as `begin` for an instant; 0: it had not ended when this was written. Of events
                            // for checks, which are instants: the activity
  EventKind kind = EventKind::none;
  EventOutcome outcome = EventOutcome::done;
  std::uint16_t lane = kProgramLane;
  std::uint32_t rank = kNoRank;  // of the job, or the chip of a node
  TextId object = 0;
  TextId place = 0;  // "file:line" in the source of the program
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t d = 0;

  /// When it was written.
  [[nodiscard]] constexpr std::uint64_t written() const noexcept { return end != 0 ? end : begin; }
};
static_assert(sizeof(EventRecord) == 64);
inline constexpr std::size_t kEventWords = sizeof(EventRecord) / sizeof(std::uint64_t);

}  // namespace baton
