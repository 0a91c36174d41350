// From the file to spans.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/host_clock.hpp"
#include "base/trace_reader.hpp"
#include "trace/deferrals.hpp"
#include "trace/far_notifies.hpp"
#include "trace/trace.hpp"

namespace baton::trace {
namespace {

/// Ticks as nanoseconds after the header's first pair.
class Clock {
 public:
  explicit Clock(const TraceHeader& header) : first_ticks_(header.first.ticks.load(std::memory_order_relaxed)) {
    if (header.clock == ClockSource::monotonic) return;
    const std::int64_t first_ns = header.first.ns.load(std::memory_order_relaxed);
    std::uint64_t later_ticks = header.last.ticks.load(std::memory_order_relaxed);
    std::int64_t later_ns = header.last.ns.load(std::memory_order_relaxed);
    const std::string boot(header.boot_id, ::strnlen(header.boot_id, sizeof header.boot_id));
    if (!boot.empty() && boot == boot_id()) {
      // Both clocks run on: the longer, the more exact.
      const ClockReading now = read_clocks();
      later_ns = now.ns;
      later_ticks = now.ticks;
    }
    if (later_ticks > first_ticks_) {
      ns_per_tick_ = static_cast<double>(later_ns - first_ns) / static_cast<double>(later_ticks - first_ticks_);
    }
  }
  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(ticks - first_ticks_)) *
                                     ns_per_tick_);
  }

 private:
  std::uint64_t first_ticks_;
  double ns_per_tick_ = 1.0;
};

std::vector<ClockSample> samples_of(const HostChunk& host) {
  std::vector<ClockSample> samples;
  // Pairs with the store of who wrote the last one.
  const std::uint64_t taken = host.samples_taken.load(std::memory_order_acquire);
  for (std::uint64_t number = 0; number < taken; ++number) {
    // Those in the middle were overwritten by later ones.
    if (number == kFirstHostSamples && taken > kHostSamples) number = taken - (kHostSamples - kFirstHostSamples);
    const HostSample& sample = host.samples[place_of_sample(number)];
    samples.push_back({{sample.ticks.load(std::memory_order_relaxed), sample.there_ns.load(std::memory_order_relaxed)},
                       sample.here_ns.load(std::memory_order_relaxed),
                       sample.error_ns.load(std::memory_order_relaxed)});
  }
  return samples;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path), clock_(file_.header()) {}

  [[nodiscard]] Trace read() {
    const TraceHeader& header = file_.header();
    trace_.hosts.front().name.assign(header.host, ::strnlen(header.host, sizeof header.host));
    trace_.created_ns = header.created_ns;
    trace_.processes = header.processes.load(std::memory_order_relaxed);
    trace_.lost_chunks = file_.lost_chunks();
    for (const auto& [number, host] : file_.hosts()) add_host(number, *host);
    file_.for_each([&](const EventRecord& event, std::uint32_t process) { add(process, event); });
    give_to_ranks();
    finish();
    join_far_notifies(trace_);
    shorten_deferrals(trace_);
    return std::move(trace_);
  }

 private:
  void add_host(std::uint32_t number, const HostChunk& host) {
    const std::vector<ClockSample> samples = samples_of(host);
    // Of a clock that was never looked at twice nothing is known.
    if (samples.size() < 2) return;
    const HostClock& clock = host_clocks_.emplace(number, HostClock(samples)).first->second;
    index_of_host_[number] = static_cast<std::uint32_t>(trace_.hosts.size());
    trace_.hosts.push_back({std::string(host.name, ::strnlen(host.name, sizeof host.name)), clock.error_ns()});
  }

  void add(std::uint32_t process, const EventRecord& event) {
    const std::uint32_t host = file_.host_of(process);
    const auto far = host_clocks_.find(host);
    if (host != 0 && far == host_clocks_.end()) {
      ++trace_.events_without_clock;
      return;
    }
    const auto ns_of = [&](std::uint64_t ticks) {
      if (host == 0) return clock_.ns(ticks);
      return far->second.here_ns(ticks) - file_.header().first.ns.load(std::memory_order_relaxed);
    };
    if (host != 0 && event.rank != kNoRank) trace_.host_of_rank.try_emplace(event.rank, index_of_host_[host]);
    // Their end is something else.
    const bool is_check = info_of(event.kind).level == EventLevel::check;
    const std::uint64_t end = is_check ? event.begin : event.end;
    Span span{.begin = ns_of(event.begin),
              .end = end == 0 ? 0 : ns_of(end),
              .kind = event.kind,
              .outcome = event.outcome,
              .lane = {event.rank, event.lane},
              .object = text_of(process, event.object),
              .place = text_of(process, event.place),
              .a = event.a,
              .b = event.b,
              .c = event.c,
              .d = event.d,
              .open = end == 0};
    if (event.kind == EventKind::task) {
      for (std::uint64_t* time : {&span.b, &span.c, &span.d}) *time = static_cast<std::uint64_t>(ns_of(*time));
    }
    if (event.kind == EventKind::collective) span.b = text_of(process, static_cast<TextId>(event.b));
    if (event.kind == EventKind::lane) trace_.lane_names[span.lane] = trace_.text(span.object);
    if (event.rank != kNoRank) {
      const auto [rank, first] = rank_of_process_.try_emplace(process, event.rank);
      if (!first && rank->second != event.rank) rank->second = kNoRank;
    } else if (event.kind == EventKind::compile || event.kind == EventKind::process) {
      of_processes_.emplace_back(trace_.spans.size(), process);
    }
    trace_.spans.push_back(span);
  }

  /// What a process does for itself, its only rank does.
  void give_to_ranks() {
    for (const auto& [span, process] : of_processes_) {
      if (const auto rank = rank_of_process_.find(process); rank != rank_of_process_.end()) {
        trace_.spans[span].lane.rank = rank->second;
      }
    }
  }

  [[nodiscard]] Text text_of(std::uint32_t process, TextId id) {
    if (id == 0) return 0;
    const auto known = numbers_.find(std::uint64_t{process} << 32U | id);
    if (known != numbers_.end()) return known->second;
    const std::string* const found = file_.text(process, id);
    const std::string text = found == nullptr ? fmt::format("#{}", id) : *found;
    const auto [entry, added] = by_text_.try_emplace(text, static_cast<Text>(trace_.texts.size()));
    if (added) trace_.texts.push_back(text);
    return numbers_[std::uint64_t{process} << 32U | id] = entry->second;
  }

  /// Times from the first event on; waits that were recorded twice once.
  void finish() {
    auto& spans = trace_.spans;
    std::ranges::stable_sort(spans, {}, &Span::begin);
    if (spans.empty()) return;
    const std::int64_t first = spans.front().begin;
    std::int64_t last = first;
    for (const Span& span : spans) last = std::max({last, span.begin, span.end});
    trace_.length = last - first;
    // Of equal begin, lane and kind, the one with an end comes with the other.
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (!spans[i].open) continue;
      for (std::size_t j = i + 1; j < spans.size() && spans[j].begin == spans[i].begin; ++j) {
        if (!spans[j].open && spans[j].kind == spans[i].kind && spans[j].lane == spans[i].lane) {
          spans[i].kind = EventKind::none;
        }
      }
      spans[i].end = last;
    }
    join_attempts();
    std::erase_if(spans, [](const Span& span) { return span.kind == EventKind::none; });
    for (Span& span : spans) {
      span.begin -= first;
      span.end -= first;
      if (span.kind != EventKind::task) continue;
      for (std::uint64_t* time : {&span.b, &span.c, &span.d}) *time -= static_cast<std::uint64_t>(first);
    }
  }

  /// A wait that gave up soon and was made again at once, with nothing else in between, is one wait: so Python waits,
  /// which Ctrl-C can end, and programs that ask again and again.
  void join_attempts() {
    constexpr std::int64_t kSoon = 100'000'000;
    auto& spans = trace_.spans;
    struct Attempt {
      Span* span = nullptr;
      std::int64_t begin = 0;
    };
    std::map<Lane, Attempt> last;
    for (Span& span : spans) {
      if (span.kind == EventKind::none) continue;
      const auto [before, began] = std::exchange(last[span.lane], Attempt{&span, span.begin});
      if (before == nullptr || before->outcome != EventOutcome::expired || before->open) continue;
      if (span.counts_as() != EventClass::waiting || before->end - began > kSoon || span.begin - before->end > kSoon)
        continue;
      const auto what = [](const Span& of) { return std::tie(of.kind, of.object, of.place, of.a, of.b, of.c); };
      if (what(*before) != what(span)) continue;
      span.begin = before->begin;
      before->kind = EventKind::none;
    }
    std::ranges::stable_sort(spans, {}, &Span::begin);
  }

  TraceReader file_;
  Clock clock_;
  std::map<std::uint32_t, HostClock> host_clocks_;  // by the number of the host in the file
  std::map<std::uint32_t, std::uint32_t> index_of_host_;
  Trace trace_;
  std::map<std::uint32_t, std::uint32_t> rank_of_process_;           // kNoRank: it has several
  std::vector<std::pair<std::size_t, std::uint32_t>> of_processes_;  // spans, and of which one
  std::unordered_map<std::uint64_t, Text> numbers_;
  std::unordered_map<std::string, Text> by_text_;
};

}  // namespace

Trace read_trace(const std::string& path) { return Reader(path).read(); }

}  // namespace baton::trace
