#include "trace/analysis.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "trace/critical_path.hpp"
#include "trace/flows.hpp"
#include "trace/pieces.hpp"

namespace baton::trace {
namespace {

struct LaneTimes {
  Pieces work;
  Pieces copying;
  Pieces waiting;
};

/// Of one rank.
struct Gathered {
  std::map<std::uint16_t, LaneTimes> lanes;
};

void count_parallelism(const Trace& trace, const Gathered& of, std::uint32_t rank, RankTimes& times) {
  Pieces any;
  std::int64_t all = 0;
  std::set<std::string> kinds;
  const auto kind_of = [&](std::uint16_t lane) {
    const std::string name = name_of_lane(trace, {rank, lane});
    return name.substr(0, name.find(' '));
  };
  for (const auto& [lane, parts] : of.lanes) {
    if (lane == kProgramLane || lane >= kFirstEngineLane || parts.work.empty()) continue;
    const Pieces work = without(parts.work, parts.waiting);
    all += total(work);
    any.insert(any.end(), work.begin(), work.end());
    kinds.insert(kind_of(lane));
  }
  merge(any);
  if (!any.empty())
    times.parallelism = static_cast<double>(all) / static_cast<double>(std::max<std::int64_t>(total(any), 1));
  for (const auto& [lane, name] : trace.lane_names) {
    if (lane.rank == rank && kinds.contains(name.substr(0, name.find(' ')))) ++times.cores;
  }
}

/// The longest chain of tasks, counted in tasks, by rank.
void find_chains(const Trace& trace, const std::vector<Flow>& edges, Analysis& analysis) {
  std::unordered_map<std::size_t, std::vector<const Flow*>> before;
  for (const Flow& edge : edges) before[edge.to].push_back(&edge);
  // Which tensor made a task wait for another.
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, Text> because;
  for (const Span& span : trace.spans) {
    if (span.kind == EventKind::edge && span.object != 0) because[{span.lane.rank, span.a, span.b}] = span.object;
  }
  struct Chain {
    std::uint64_t tasks = 1;
    std::optional<std::size_t> before;
  };
  std::unordered_map<std::size_t, Chain> chains;
  std::map<std::uint32_t, std::size_t> longest;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.kind != EventKind::task) continue;
    ++analysis.ranks[span.lane.rank].tasks;
    Chain chain;
    if (const auto found = before.find(i); found != before.end()) {
      for (const Flow* edge : found->second) {
        const auto earlier = chains.find(edge->from);
        if (earlier != chains.end() && earlier->second.tasks + 1 > chain.tasks) {
          chain = {earlier->second.tasks + 1, edge->from};
        }
      }
    }
    chains[i] = chain;
    const auto [best, first] = longest.try_emplace(span.lane.rank, i);
    if (!first && chains[best->second].tasks < chain.tasks) best->second = i;
  }
  for (const auto& [rank, last] : longest) {
    RankTimes& times = analysis.ranks[rank];
    times.chain = chains[last].tasks;
    std::map<Text, std::uint64_t> tensors;
    for (std::size_t at = last; chains[at].before; at = *chains[at].before) {
      const auto found = because.find({rank, trace.spans[at].a, trace.spans[*chains[at].before].a});
      if (found != because.end()) ++tensors[found->second];
    }
    const auto most = std::ranges::max_element(tensors, {}, [](const auto& entry) { return entry.second; });
    if (most != tensors.end()) times.chain_tensor = trace.text(most->first);
  }
}

}  // namespace

Analysis analyse(const Trace& trace) {
  Analysis analysis;
  analysis.notifies = find_notifies(trace);
  analysis.edges = find_edges(trace);
  std::unordered_map<std::size_t, std::uint32_t> ended_by;
  for (const Flow& flow : analysis.notifies) ended_by[flow.to] = trace.spans[flow.from].lane.rank;
  const std::unordered_map<std::size_t, std::uint32_t> absent = find_absent(trace);

  std::map<std::uint32_t, Gathered> gathered;
  std::set<std::uint32_t> joined;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    const std::uint32_t rank = span.lane.rank;
    const auto [entry, first] = analysis.ranks.try_emplace(rank);
    RankTimes& times = entry->second;
    if (first) times.begin = span.begin;
    times.end = std::max(times.end, span.end);
    if (span.kind == EventKind::joined) joined.insert(rank);
    if (span.kind == EventKind::left) joined.erase(rank);
    LaneTimes& lane = gathered[rank].lanes[span.lane.lane];
    const std::pair piece(span.begin, span.end);
    switch (span.counts_as()) {
      case EventClass::work:
        if (span.kind != EventKind::compile) lane.work.push_back(piece);
        break;
      case EventClass::copying: lane.copying.push_back(piece); break;
      case EventClass::waiting: {
        lane.waiting.push_back(piece);
        std::uint32_t whom = kNoRank;
        if (const auto found = ended_by.find(i); found != ended_by.end()) whom = found->second;
        if (span.kind == EventKind::reach && span.a < kNoRank) whom = static_cast<std::uint32_t>(span.a);
        const auto missing = absent.find(i);
        if (missing != absent.end()) whom = missing->second;
        // The last one to a meeting waits for nobody.
        const bool is_meeting = span.kind == EventKind::barrier || span.kind == EventKind::allocation;
        if (!is_meeting || whom != kNoRank || missing != absent.end()) times.waited_for[whom] += span.length();
        break;
      }
      case EventClass::mark:
      case EventClass::enclosing: break;
    }
  }
  for (auto& [rank, of] : gathered) {
    RankTimes& times = analysis.ranks[rank];
    times.died = joined.contains(rank);
    Pieces work;
    Pieces copying;
    Pieces waiting;
    for (auto& [lane, parts] : of.lanes) {
      for (Pieces* pieces : {&parts.work, &parts.copying, &parts.waiting}) merge(*pieces);
      // A wait inside a kernel is a wait.
      const Pieces busy = without(parts.work, parts.waiting);
      work.insert(work.end(), busy.begin(), busy.end());
      copying.insert(copying.end(), parts.copying.begin(), parts.copying.end());
      waiting.insert(waiting.end(), parts.waiting.begin(), parts.waiting.end());
    }
    for (Pieces* pieces : {&work, &copying, &waiting}) merge(*pieces);
    copying = without(copying, work);
    waiting = without(without(waiting, work), copying);
    times.kernels = total(work);
    times.copies = total(copying);
    times.waiting = total(waiting);
    times.idle = std::max<std::int64_t>(0, times.end - times.begin - times.kernels - times.copies - times.waiting);
    count_parallelism(trace, of, rank, times);
  }
  find_chains(trace, analysis.edges, analysis);
  analysis.critical_path = find_critical_path(trace, analysis.notifies);
  return analysis;
}

}  // namespace baton::trace
