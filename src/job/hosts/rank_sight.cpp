#include "job/hosts/rank_sight.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "base/fail.hpp"
#include "base/process_stat.hpp"
#include "comm/wait_record.hpp"

namespace baton::job {
namespace {

using Word = std::atomic<std::uint64_t>;

/// What of a block a host tells. The name of the host is behind it.
constexpr std::size_t kToldBytes = offsetof(wire::RankBlock, host);
static_assert(kToldBytes % sizeof(Word) == 0 && sizeof(Word) == sizeof(std::uint64_t));

/// Most of an event area is zero.
constexpr std::size_t kPieceBytes = 1024;
static_assert(sizeof(EventArea) % sizeof(Word) == 0);

/// Copies memory that others change meanwhile: no word is torn.
void copy_words(void* to, const void* from, std::size_t bytes) noexcept {
  auto* out = static_cast<Word*>(to);
  const auto* in = static_cast<const Word*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(Word); ++i) {
    out[i].store(in[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

/// 0 is no time: it stays.
template <class Time, class Convert>
void convert_time(std::atomic<Time>& time, const Convert& convert) {
  const Time value = time.load(std::memory_order_relaxed);
  if (value != 0) time.store(convert(value), std::memory_order_relaxed);
}

template <class Convert>
void convert_times(wire::RankBlock& block, const Convert& convert) {
  convert_time(block.ended_ns, convert);
  for (wire::WaitRecord& wait : block.waits) convert_time(wait.since_ns, convert);
  for (wire::KernelRecord& kernel : block.kernels) convert_time(kernel.since_ns, convert);
}

/// Times that are ticks: of the last notify, and those of `begin` and `end` of each event.
template <class Convert>
void convert_ticks(wire::RankBlock& block, const Convert& convert) {
  convert_time(block.last_notify.when, convert);
}
template <class Convert>
void convert_ticks(EventArea& area, const Convert& convert) {
  for (EventArea::Ring& ring : area.rings) {
    for (EventSlot& slot : ring.slots) {
      for (const std::size_t word :
           {offsetof(EventRecord, begin) / sizeof(Word), offsetof(EventRecord, end) / sizeof(Word)}) {
        const std::uint64_t value = slot.words[word].load(std::memory_order_relaxed);
        if (value != 0) slot.words[word].store(convert(value), std::memory_order_relaxed);
      }
    }
  }
}

/// Null if there are none.
const EventArea* events_of(const comm::ControlView& view, std::uint32_t rank) {
  // Held against the real size: the header may have changed since it was checked.
  const std::size_t ranks = view.header->rank_count;
  if (view.header->event_areas == 0 || rank >= ranks || wire::control_bytes(ranks, ranks) > view.bytes) return nullptr;
  return reinterpret_cast<const EventArea*>(&wire::rank_block(*view.header, ranks)) + rank;
}

comm::ProcessSeen look_at_process(const wire::RankBlock& block) {
  const auto stat = read_process_stat(block.pid.load(std::memory_order_relaxed));
  const bool same = stat && stat->start_time == block.start_time.load(std::memory_order_relaxed);
  if (!same || stat->ended()) return comm::ProcessSeen::ended;
  return stat->state == 'T' || stat->state == 't' ? comm::ProcessSeen::stopped : comm::ProcessSeen::runs;
}

}  // namespace

std::string encode_sight(const comm::ControlView& view, std::uint32_t rank, TickScale scale) {
  const auto block = std::make_unique<wire::RankBlock>();
  copy_words(block.get(), &wire::rank_block(*view.header, rank), kToldBytes);
  const std::int64_t now = comm::monotonic_ns();
  convert_times(*block, [now](std::int64_t then) { return std::max<std::int64_t>(now - then, 1); });
  scale.calibrate();
  const auto age_of_ticks = [&](std::uint64_t then) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(now - scale.nanoseconds(then), 1));
  };
  convert_ticks(*block, age_of_ticks);
  FrameWriter frame(FrameKind::seen);
  frame.put(rank)
      .put(static_cast<std::uint8_t>(look_at_process(*block)))
      .put_text({reinterpret_cast<const char*>(block.get()), kToldBytes});

  std::string pieces;
  if (const EventArea* events = events_of(view, rank)) {
    const auto area = std::make_unique<EventArea>();
    copy_words(area.get(), events, sizeof(EventArea));
    convert_ticks(*area, age_of_ticks);
    const std::string_view bytes(reinterpret_cast<const char*>(area.get()), sizeof(EventArea));
    for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
      const std::string_view piece = bytes.substr(at, kPieceBytes);
      if (piece.find_first_not_of('\0') == std::string_view::npos) continue;
      const auto offset = static_cast<std::uint32_t>(at);
      pieces.append(reinterpret_cast<const char*>(&offset), sizeof offset).append(piece);
    }
  }
  return frame.put_rest(pieces).finish();
}

RankSight decode_sight(FrameReader& frame) {
  RankSight sight;
  sight.rank = frame.get<std::uint32_t>();
  const auto process = frame.get<std::uint8_t>();
  if (process > static_cast<std::uint8_t>(comm::ProcessSeen::silent))
    fail(Code::protocol, "a process is in state {}", process);
  sight.process = static_cast<comm::ProcessSeen>(process);
  sight.block = frame.get_text();
  if (sight.block.size() != kToldBytes) fail(Code::protocol, "a block of {} bytes came", sight.block.size());
  sight.events = frame.get_rest();
  return sight;
}

void draw(const RankSight& sight, wire::ControlHeader& picture, TickScale scale) {
  const auto block = std::make_unique<wire::RankBlock>();
  std::memcpy(static_cast<void*>(block.get()), sight.block.data(), kToldBytes);
  const std::int64_t now = comm::monotonic_ns();
  convert_times(*block,
                [now](std::int64_t age) { return std::max<std::int64_t>(now - std::max<std::int64_t>(age, 0), 1); });
  scale.calibrate();
  const std::uint64_t now_ticks = ticks();
  constexpr std::uint64_t kSpan = std::uint64_t{1} << 30U;
  const double ns_per_tick =
      static_cast<double>(scale.nanoseconds(now_ticks) - scale.nanoseconds(now_ticks - kSpan)) / double{kSpan};
  const auto ticks_of_age = [&](std::uint64_t age) {
    return now_ticks - static_cast<std::uint64_t>(std::min(static_cast<double>(age) / ns_per_tick, 9e18));
  };
  convert_ticks(*block, ticks_of_age);
  copy_words(&wire::rank_block(picture, sight.rank), block.get(), kToldBytes);

  EventArea* const events = wire::event_area(picture, sight.rank);
  if (events == nullptr) return;
  const auto area = std::make_unique<EventArea>();
  for (std::string_view rest = sight.events; rest.size() > sizeof(std::uint32_t);) {
    std::uint32_t at = 0;
    std::memcpy(&at, rest.data(), sizeof at);
    const std::string_view piece = rest.substr(sizeof at, kPieceBytes);
    if (at > sizeof(EventArea) - piece.size()) fail(Code::protocol, "a piece of events lies at {}", at);
    std::memcpy(reinterpret_cast<std::byte*>(area.get()) + at, piece.data(), piece.size());
    rest.remove_prefix(sizeof at + piece.size());
  }
  convert_ticks(*area, ticks_of_age);
  copy_words(events, area.get(), sizeof(EventArea));
}

}  // namespace baton::job
