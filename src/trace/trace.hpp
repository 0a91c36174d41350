// A trace as it is read: what all processes recorded, on one clock, in nanoseconds, with one table of texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event.hpp"

namespace baton::trace {

/// Index of a text of the trace; 0 is "".
using Text = std::uint32_t;

/// A rank and one of its activities.
struct Lane {
  std::uint32_t rank = kNoRank;
  std::uint16_t lane = kProgramLane;

  friend auto operator<=>(const Lane&, const Lane&) = default;
};

/// An event. Times are nanoseconds since the first one of the trace.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  EventKind kind = EventKind::none;
  EventOutcome outcome = EventOutcome::done;
  Lane lane;
  Text object = 0;
  Text place = 0;
  /// As in EventRecord; of a task, `b`, `c` and `d` are times like `begin`; the algorithm of a collective is a Text.
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t d = 0;
  /// It had not ended when its process recorded it for the last time: it ends with the trace.
  bool open = false;

  [[nodiscard]] std::int64_t length() const noexcept { return end - begin; }
  [[nodiscard]] EventClass counts_as() const noexcept;
};

struct Host {
  std::string name;
  std::int64_t error = 0;  // how wrong its times may be beside those of the first host
};

struct Trace {
  std::vector<std::string> texts{""};
  std::vector<Span> spans;  // by begin
  std::map<Lane, std::string> lane_names;
  std::vector<Host> hosts{1};  // the first one has the clock of the trace
  std::map<std::uint32_t, std::uint32_t> host_of_rank;
  std::int64_t created_ns = 0;  // CLOCK_REALTIME
  std::int64_t length = 0;
  std::uint32_t processes = 0;
  std::uint64_t lost_chunks = 0;           // that could not be read
  std::uint64_t events_without_clock = 0;  // of hosts of whose clocks nothing is known; they are not here

  [[nodiscard]] std::string_view text(Text number) const noexcept {
    return number < texts.size() ? std::string_view(texts[number]) : std::string_view();
  }
  [[nodiscard]] const Host& host_of(std::uint32_t rank) const noexcept {
    const auto found = host_of_rank.find(rank);
    return hosts[found == host_of_rank.end() ? 0 : found->second];
  }
  /// How far an event of one rank may seem to lie before its cause at another one.
  [[nodiscard]] std::int64_t slack(std::uint32_t rank, std::uint32_t other) const noexcept {
    const Host& one = host_of(rank);
    const Host& two = host_of(other);
    return &one == &two ? 0 : one.error + two.error;
  }
};

/// Reads a file that BATON_TRACE made. It may be one that is still written, or whose writers died. Throws Error
/// (system, protocol).
[[nodiscard]] Trace read_trace(const std::string& path);

/// "rank 3"; "rank 3 on b" where there are several hosts; "program", for what belongs to none.
[[nodiscard]] std::string name_of_rank(const Trace& trace, std::uint32_t rank);
/// "program", "vector core 11.1", "engine 0".
[[nodiscard]] std::string name_of_lane(const Trace& trace, const Lane& lane);
/// What it is called in a picture: the kernel, or what is waited for.
[[nodiscard]] std::string label_of(const Trace& trace, const Span& span);

}  // namespace baton::trace
