#include "trace/analysis.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "trace/flows.hpp"

namespace baton::trace {
namespace {

/// Pieces of time that do not overlap, in order.
using Pieces = std::vector<std::pair<std::int64_t, std::int64_t>>;

void merge(Pieces& pieces) {
  std::ranges::sort(pieces);
  Pieces merged;
  for (const auto& [begin, end] : pieces) {
    if (!merged.empty() && begin <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, end);
    } else {
      merged.emplace_back(begin, end);
    }
  }
  pieces = std::move(merged);
}

std::int64_t total(const Pieces& pieces) {
  std::int64_t sum = 0;
  for (const auto& [begin, end] : pieces) sum += end - begin;
  return sum;
}

/// What of `from` lies outside of `other`; both merged.
Pieces without(const Pieces& from, const Pieces& other) {
  Pieces result;
  std::size_t next = 0;
  for (auto [begin, end] : from) {
    while (next < other.size() && other[next].second <= begin) ++next;
    for (std::size_t i = next; i < other.size() && other[i].first < end; ++i) {
      if (other[i].first > begin) result.emplace_back(begin, other[i].first);
      begin = std::max(begin, other[i].second);
    }
    if (begin < end) result.emplace_back(begin, end);
  }
  return result;
}

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

/// From the end of the trace back to its begin: at each moment what the end waited for.
void find_critical_path(const Trace& trace, Analysis& analysis) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_end;  // spans of a rank that take time
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const EventClass is = trace.spans[i].counts_as();
    if (is == EventClass::mark || is == EventClass::enclosing || trace.spans[i].length() == 0) continue;
    by_end[trace.spans[i].lane.rank].push_back(i);
  }
  std::optional<std::size_t> last;
  for (auto& [rank, spans] : by_end) {
    std::ranges::sort(spans, {}, [&](std::size_t i) { return trace.spans[i].end; });
    if (!last || trace.spans[spans.back()].end > trace.spans[*last].end) last = spans.back();
  }
  if (!last) return;
  std::unordered_map<std::size_t, const Flow*> ended_by;
  for (const Flow& flow : analysis.notifies) ended_by[flow.to] = &flow;
  std::uint32_t rank = trace.spans[*last].lane.rank;
  std::int64_t at = trace.spans[*last].end;
  while (at > 0) {
    const auto& spans = by_end[rank];
    const auto after = std::ranges::upper_bound(spans, at, {}, [&](std::size_t i) { return trace.spans[i].end; });
    if (after == spans.begin()) {
      analysis.critical_path.push_back({0, at, rank, std::nullopt});
      return;
    }
    const std::size_t index = *std::prev(after);
    const Span& span = trace.spans[index];
    if (span.end < at) analysis.critical_path.push_back({span.end, at, rank, std::nullopt});
    const auto found = ended_by.find(index);
    if (found != ended_by.end() && found->second->left > span.begin && found->second->left < span.end) {
      // What counted was not the wait but what the other rank did meanwhile.
      analysis.critical_path.push_back({found->second->left, span.end, rank, index});
      rank = trace.spans[found->second->from].lane.rank;
      at = found->second->left;
    } else {
      analysis.critical_path.push_back({span.begin, span.end, rank, index});
      at = span.begin;
    }
  }
}

}  // namespace

Analysis analyse(const Trace& trace) {
  Analysis analysis;
  analysis.notifies = find_notifies(trace);
  analysis.edges = find_edges(trace);
  std::unordered_map<std::size_t, std::uint32_t> ended_by;
  for (const Flow& flow : analysis.notifies) ended_by[flow.to] = trace.spans[flow.from].lane.rank;

  std::map<std::uint32_t, Gathered> gathered;
  std::set<std::uint32_t> joined;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    const std::uint32_t rank = span.lane.rank;
    const auto [entry, first] = analysis.ranks.try_emplace(rank);
    RankTimes& times = entry->second;
    if (first) times.begin = span.begin;
    times.end = std::max(times.end, span.open ? span.begin : span.end);
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
        // Who arrives last at a barrier waits for nobody.
        if (span.kind != EventKind::barrier || whom != kNoRank) times.waited_for[whom] += span.length();
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
  find_critical_path(trace, analysis);
  return analysis;
}

}  // namespace baton::trace
