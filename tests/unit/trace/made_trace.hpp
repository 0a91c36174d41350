// Traces made by hand.
#pragma once

#include <string>

#include <baton/signal.hpp>

#include "trace/analysis.hpp"

namespace baton::trace {

class MadeTrace {
 public:
  [[nodiscard]] Text text(const std::string& text) {
    trace_.texts.push_back(text);
    return static_cast<Text>(trace_.texts.size() - 1);
  }
  Span& add(EventKind kind, std::uint32_t rank, std::int64_t begin, std::int64_t end) {
    trace_.length = std::max(trace_.length, end);
    Span span;
    span.kind = kind;
    span.lane.rank = rank;
    span.begin = begin;
    span.end = end;
    trace_.spans.push_back(span);
    return trace_.spans.back();
  }
  void notify(std::uint32_t rank, std::int64_t at, Text window, std::uint64_t owner, std::int32_t after) {
    Span& span = add(EventKind::notify, rank, at, at);
    span.object = window;
    span.a = owner;
    span.c = static_cast<std::uint32_t>(after);
  }
  void wait(std::uint32_t rank, std::int64_t begin, std::int64_t end, Text window, std::int32_t needs) {
    Span& span = add(EventKind::wait, rank, begin, end);
    span.object = window;
    span.a = rank;
    span.c = static_cast<std::uint32_t>(needs) | static_cast<std::uint64_t>(WaitCmp::ge) << 32U;
  }
  /// A task has waited for the signal without a core.
  void deferral(std::uint32_t rank, std::int64_t begin, std::int64_t end, Text window, std::int32_t needs) {
    wait(rank, begin, end, window, needs);
    trace_.spans.back().kind = EventKind::deferral;
  }
  Span& task(std::uint32_t rank, int core, std::uint64_t number, std::int64_t begin, std::int64_t end, Text kernel) {
    Span& span = add(EventKind::task, rank, begin, end);
    span.lane.lane = core_lane(core);
    span.object = kernel;
    span.a = number;
    span.b = span.c = static_cast<std::uint64_t>(begin);
    span.d = static_cast<std::uint64_t>(end);
    trace_.lane_names[span.lane] = fmt::format("vector core {}", core);
    return span;
  }
  void edge(std::uint32_t rank, std::uint64_t task, std::uint64_t after, Text tensor) {
    Span& span = add(EventKind::edge, rank, 0, 0);
    span.object = tensor;
    span.a = task;
    span.b = after;
  }
  /// Somebody of another host has changed the signal.
  void arrival(std::uint32_t owner, std::int64_t at, Text window, std::uint64_t from, std::int32_t after) {
    Span& span = add(EventKind::arrival, owner, at, at);
    span.object = window;
    span.a = owner;
    span.c = static_cast<std::uint32_t>(after);
    span.d = from;
  }
  /// Rank 0 is on the first of two hosts, the others on the second, whose times may be wrong by `error`.
  void make_hosts(std::int64_t error) {
    trace_.hosts = {{"a", 0}, {"b", error}};
    for (std::uint32_t rank = 1; rank < 8; ++rank) trace_.host_of_rank[rank] = 1;
  }
  /// By begin, as a trace has them.
  [[nodiscard]] Trace& done() {
    std::ranges::stable_sort(trace_.spans, {}, &Span::begin);
    return trace_;
  }

 private:
  Trace trace_;
};

}  // namespace baton::trace
