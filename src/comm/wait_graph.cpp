#include "comm/wait_graph.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <baton/device_list.hpp>

namespace baton::comm {
namespace {

/// Equal for waits for the same meeting: one barrier of one domain, one allocation. Empty for others.
std::string meeting_of(const WaitDescription& wait) {
  switch (wait.operation) {
    case wire::Operation::in_collective:
      if (wait.index != kAllRanks) return {};
      break;
    case wire::Operation::in_barrier:
    case wire::Operation::allocating: break;
    default: return {};
  }
  return fmt::format("{} {} {} {}", static_cast<int>(wait.operation), wait.index,
                     format_device_list({wait.members.begin(), wait.members.end()}), wait.object);
}

std::vector<std::uint32_t> members_of(const std::vector<RankOfGraph>& job, const WaitDescription& wait) {
  std::vector<std::uint32_t> members = wait.members;
  std::erase_if(members, [&](std::uint32_t rank) { return rank >= job.size(); });
  if (!members.empty() && wait.knows_members) return members;
  members.resize(job.size());
  std::iota(members.begin(), members.end(), 0U);
  return members;
}

/// Whether `wait` can still end, if those in `hopeful` may do anything.
bool has_hope(const Awaited& awaited, const std::vector<bool>& hopeful) {
  const auto may_act = [&](std::uint32_t rank) { return hopeful[rank]; };
  return awaited.who == Awaited::Who::any ? std::ranges::any_of(awaited.ranks, may_act)
                                          : std::ranges::all_of(awaited.ranks, may_act);
}

}  // namespace

WaitGraph::WaitGraph(std::vector<RankOfGraph> ranks) : ranks_(std::move(ranks)) {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    for (const WaitDescription& wait : ranks_[rank].waits) {
      if (const std::string meeting = meeting_of(wait); !meeting.empty()) meetings_[meeting].push_back(rank);
    }
  }
}

Awaited WaitGraph::awaited_by(std::uint32_t rank, const WaitDescription& wait) const {
  Awaited out;
  out.ranks = members_of(ranks_, wait);
  if (const auto met = meetings_.find(meeting_of(wait)); met != meetings_.end()) {
    out.who = Awaited::Who::every;
    std::erase_if(out.ranks,
                  [&](std::uint32_t other) { return other == rank || std::ranges::binary_search(met->second, other); });
  } else if (wait.operation == wire::Operation::in_collective) {
    out.who = Awaited::Who::every;
    out.ranks = wait.index < out.ranks.size() ? std::vector{out.ranks[wait.index]} : std::vector<std::uint32_t>();
  } else {
    std::erase(out.ranks, rank);
  }
  return out;
}

std::vector<std::uint32_t> WaitGraph::stuck() const {
  const auto count = static_cast<std::uint32_t>(ranks_.size());
  std::vector<bool> hopeful(count);
  std::vector<std::uint32_t> doubtful;
  std::vector<std::vector<Awaited>> awaited(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    hopeful[rank] = ranks_[rank].state == RankOfGraph::State::acts;
    if (ranks_[rank].state != RankOfGraph::State::waits) continue;
    doubtful.push_back(rank);
    for (const WaitDescription& wait : ranks_[rank].waits) awaited[rank].push_back(awaited_by(rank, wait));
  }
  // A rank that one who may go on could help may go on.
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t rank : doubtful) {
      if (hopeful[rank]) continue;
      hopeful[rank] = std::ranges::any_of(awaited[rank], [&](const Awaited& one) { return has_hope(one, hopeful); });
      changed = changed || hopeful[rank];
    }
  }
  std::erase_if(doubtful, [&](std::uint32_t rank) { return hopeful[rank]; });
  return doubtful;
}

std::vector<std::uint32_t> WaitGraph::cycle_among(const std::vector<std::uint32_t>& stuck) const {
  const auto is_stuck = [&](std::uint32_t rank) { return std::ranges::binary_search(stuck, rank); };
  // The one that each stuck rank waits for, where there is only one.
  const auto next_of = [&](std::uint32_t rank) -> std::uint32_t {
    if (ranks_[rank].waits.size() != 1) return rank;
    Awaited awaited = awaited_by(rank, ranks_[rank].waits.front());
    std::erase_if(awaited.ranks, [&](std::uint32_t other) { return !is_stuck(other); });
    const bool clear = awaited.ranks.size() == 1 || (awaited.who == Awaited::Who::every && !awaited.ranks.empty());
    return clear ? awaited.ranks.front() : rank;
  };
  std::vector<bool> visited(ranks_.size());
  for (const std::uint32_t start : stuck) {
    std::vector<std::uint32_t> path;
    std::uint32_t at = start;
    while (!visited[at]) {
      visited[at] = true;
      path.push_back(at);
      at = next_of(at);
    }
    const auto again = std::ranges::find(path, at);
    if (again != path.end() && path.end() - again > 1) return {again, path.end()};
  }
  return {};
}

}  // namespace baton::comm
