// Who ended which wait, and which task waited for which.
#include "trace/flows.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <baton/signal.hpp>

namespace baton::trace {
namespace {

using SignalKey = std::tuple<Text, std::uint64_t, std::uint64_t>;  // window, owner, signal
using MeetingKey =
    std::tuple<EventKind, Text, std::uint64_t, std::uint64_t>;            // of what kind, of what, ranks, which one
using TaskKey = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;  // rank, node, number

/// Tasks of a chip are those of its rank; tasks of a node belong to no rank.
TaskKey chip_task(std::uint32_t rank, std::uint64_t task) { return {rank, 0, task}; }
TaskKey node_task(std::uint64_t node, std::uint64_t task) { return {kNoRank, node, task}; }

bool ends(const Span& notify, const Span& wait) {
  const std::uint64_t number = wait.c >> 32U;
  const auto comparison =
      number <= static_cast<std::uint64_t>(WaitCmp::le) ? static_cast<WaitCmp>(number) : WaitCmp::ge;
  return holds(static_cast<std::int32_t>(notify.c), comparison, static_cast<std::int32_t>(wait.c));
}

/// All ranks come to it, and the last one ends the waits of the others.
bool is_meeting(const Span& span) { return span.kind == EventKind::barrier || span.kind == EventKind::allocation; }
MeetingKey meeting_of(const Span& span) { return {span.kind, span.object, span.b, span.a}; }

/// When it began to wait.
std::int64_t began(const Span& span) {
  return span.kind == EventKind::deferral ? static_cast<std::int64_t>(span.d) : span.begin;
}

void add_flow(std::vector<Flow>& flows, std::size_t from, std::size_t to, std::int64_t left, std::int64_t arrived) {
  // Clocks of two processors, or hosts, may differ by a little: an arrow does not run backwards.
  flows.push_back({from, to, left, std::max(left, arrived)});
}

/// Those of a barrier, or of the making of a window.
struct Meeting {
  std::vector<std::size_t> spans;
  std::set<std::uint32_t> ranks;
  bool came_about = false;
};

}  // namespace

std::vector<Flow> find_notifies(const Trace& trace) {
  std::map<SignalKey, std::vector<std::size_t>> notifies;  // by time
  std::map<MeetingKey, std::size_t> last_arrival;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.kind == EventKind::notify) notifies[{span.object, span.a, span.b}].push_back(i);
    // Spans are sorted by their begin.
    if (is_meeting(span)) last_arrival[meeting_of(span)] = i;
  }
  const std::int64_t most_slack = 2 * std::ranges::max_element(trace.hosts, {}, &Host::error)->error;
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.outcome != EventOutcome::done || span.open) continue;
    if (is_meeting(span)) {
      const std::size_t last = last_arrival[meeting_of(span)];
      if (last != i) add_flow(flows, last, i, trace.spans[last].begin, span.end);
    }
    if (span.kind != EventKind::wait && span.kind != EventKind::deferral) continue;
    const auto found = notifies.find({span.object, span.a, span.b});
    if (found == notifies.end()) continue;
    // The first that satisfies it and is not older than the wait; if there is none, the last before its end. Times of
    // another host may be wrong.
    std::optional<std::size_t> who;
    for (auto at = std::ranges::lower_bound(found->second, began(span) - most_slack, {},
                                            [&](std::size_t n) { return trace.spans[n].begin; });
         at != found->second.end() && trace.spans[*at].begin <= span.end + most_slack; ++at) {
      const Span& notify = trace.spans[*at];
      const std::int64_t slack = trace.slack(notify.lane.rank, span.lane.rank);
      if (notify.begin < began(span) - slack || notify.begin > span.end + slack || !ends(notify, span)) continue;
      who = *at;
      break;
    }
    if (!who) {
      auto after =
          std::ranges::upper_bound(found->second, span.end, {}, [&](std::size_t n) { return trace.spans[n].begin; });
      if (after == found->second.begin() || !ends(trace.spans[*std::prev(after)], span)) continue;
      who = *std::prev(after);
    }
    add_flow(flows, *who, i, trace.spans[*who].begin, span.end);
  }
  return flows;
}

std::unordered_map<std::size_t, std::uint32_t> find_absent(const Trace& trace) {
  std::map<MeetingKey, Meeting> meetings;
  std::set<std::uint32_t> joined;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.kind == EventKind::joined) joined.insert(span.lane.rank);
    if (!is_meeting(span)) continue;
    Meeting& meeting = meetings[meeting_of(span)];
    meeting.spans.push_back(i);
    meeting.ranks.insert(span.lane.rank);
    meeting.came_about |= span.outcome == EventOutcome::done && !span.open;
  }
  std::unordered_map<std::size_t, std::uint32_t> absent;
  for (const auto& [key, meeting] : meetings) {
    const std::uint64_t expected = std::get<2>(key);
    // A trace may have begun, or ended, while some were there.
    if (meeting.came_about || meeting.ranks.size() >= expected) continue;
    // The members of a smaller domain are not recorded.
    std::vector<std::uint32_t> missing;
    if (joined.size() == expected) std::ranges::set_difference(joined, meeting.ranks, std::back_inserter(missing));
    for (const std::size_t i : meeting.spans) absent[i] = missing.size() == 1 ? missing.front() : kNoRank;
  }
  return absent;
}

std::vector<Flow> find_edges(const Trace& trace) {
  // Of a captured graph tasks run many times, and its edges are recorded once: they hold for each run.
  std::map<TaskKey, std::vector<std::size_t>> runs;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.kind == EventKind::task) runs[chip_task(span.lane.rank, span.a)].push_back(i);
    if (span.kind == EventKind::node_task) runs[node_task(span.b, span.a)].push_back(i);
  }
  std::vector<Flow> flows;
  for (const Span& span : trace.spans) {
    if (span.kind != EventKind::edge) continue;
    const bool of_node = span.lane.rank == kNoRank;
    const auto key = [&](std::uint64_t task) {
      return of_node ? node_task(span.c, task) : chip_task(span.lane.rank, task);
    };
    const auto earlier = runs.find(key(span.b));
    const auto later = runs.find(key(span.a));
    if (earlier == runs.end() || later == runs.end()) continue;
    const std::size_t count = std::min(earlier->second.size(), later->second.size());
    for (std::size_t run = 0; run < count; ++run) {
      const std::size_t from = earlier->second[run];
      const std::size_t to = later->second[run];
      add_flow(flows, from, to, trace.spans[from].end, trace.spans[to].begin);
    }
  }
  return flows;
}

}  // namespace baton::trace
