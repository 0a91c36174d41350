#include "platform/cuda/placement.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace baton::cuda {
namespace {

/// In units of an empty task: word of the end of a task takes that long to another core.
constexpr double kWordTakes = 3;
/// Only this many cores of predecessors are considered.
constexpr std::size_t kConsidered = 8;

/// When cores are free again, as far as can be foreseen.
class Cores {
 public:
  explicit Cores(std::size_t count) : free_(count, 0) {
    for (std::size_t core = 0; core < count; ++core) by_time_.emplace(0, core);
  }
  [[nodiscard]] std::size_t count() const noexcept { return free_.size(); }
  [[nodiscard]] double free_at(std::size_t core) const { return free_[core]; }
  [[nodiscard]] std::size_t earliest() const { return by_time_.begin()->second; }
  /// Those that are free earliest.
  [[nodiscard]] std::vector<std::size_t> earliest(std::size_t count) const {
    std::vector<std::size_t> found;
    for (auto at = by_time_.begin(); at != by_time_.end() && found.size() < count; ++at) found.push_back(at->second);
    return found;
  }
  void occupy(std::size_t core, double until) {
    by_time_.erase({free_[core], core});
    free_[core] = until;
    by_time_.emplace(until, core);
  }

 private:
  std::vector<double> free_;
  std::set<std::pair<double, std::size_t>> by_time_;
};

/// Where a block of a task is: the number of its core, and how many came before it there.
struct Position {
  std::size_t core;
  std::uint32_t before;
};

/// What is known to have ended when a task begins: of each core, how many of its blocks.
using Known = std::vector<std::uint32_t>;

/// Which edges say something that is not known already. Knowledge of a task is kept until nobody asks any more.
class Knowledge {
 public:
  Knowledge(std::span<const std::vector<std::uint32_t>> predecessors, std::size_t core_count)
      : core_count_(core_count),
        known_(predecessors.size()),
        positions_(predecessors.size()),
        askers_(predecessors.size()),
        last_on_(core_count) {
    for (const auto& before : predecessors) {
      for (const std::uint32_t earlier : before) ++askers_[earlier];
    }
  }

  /// `task` runs at `positions`, after all of `before`. Calls `needed(earlier)` for those it has to be told of.
  template <class Needed>
  void add(std::uint32_t task, std::span<const std::uint32_t> before, std::vector<Position> positions,
           Needed&& needed) {
    // A core knows what it knew before, but blocks on several cores have only what all of them know.
    Known known = positions.size() == 1 ? last_on_[positions[0].core] : Known(core_count_);
    if (known.empty()) known.resize(core_count_);
    if (positions.size() == 1) known[positions[0].core] = positions[0].before;
    // Later ones know more.
    for (auto earlier = before.rbegin(); earlier != before.rend(); ++earlier) {
      const bool is_known =
          std::ranges::all_of(positions_[*earlier], [&](const Position& at) { return known[at.core] > at.before; });
      if (!is_known) {
        needed(*earlier);
        for (std::size_t core = 0; core < core_count_; ++core) {
          known[core] = std::max(known[core], known_[*earlier][core]);
        }
        for (const Position& at : positions_[*earlier]) known[at.core] = std::max(known[at.core], at.before + 1);
      }
    }
    for (const std::uint32_t earlier : before) {
      if (--askers_[earlier] == 0) known_[earlier] = {};
    }
    for (const Position& at : positions) last_on_[at.core] = known;
    if (askers_[task] != 0) known_[task] = std::move(known);
    positions_[task] = std::move(positions);
  }

 private:
  std::size_t core_count_;
  std::vector<Known> known_;
  std::vector<std::vector<Position>> positions_;
  std::vector<std::uint32_t> askers_;
  std::vector<Known> last_on_;  // of each core: what the last task there knew
};

/// In which order tasks get their places.
std::vector<std::uint32_t> order_of(std::span<const std::vector<std::uint32_t>> predecessors,
                                    std::span<const std::int32_t> priorities) {
  std::vector<std::uint32_t> order;
  order.reserve(predecessors.size());
  const auto has_priority = [](std::int32_t priority) { return priority != 0; };
  if (std::ranges::none_of(priorities, has_priority)) {
    for (std::uint32_t task = 0; task < predecessors.size(); ++task) order.push_back(task);
    return order;
  }
  std::vector<std::vector<std::uint32_t>> behind(predecessors.size());
  std::vector<std::size_t> missing(predecessors.size());
  // Of the highest priority the first of the graph.
  std::set<std::pair<std::int64_t, std::uint32_t>> ready;
  const auto add = [&](std::uint32_t task) { ready.emplace(-std::int64_t{priorities[task]}, task); };
  for (std::uint32_t task = 0; task < predecessors.size(); ++task) {
    for (const std::uint32_t earlier : predecessors[task]) behind[earlier].push_back(task);
    missing[task] = predecessors[task].size();
    if (missing[task] == 0) add(task);
  }
  while (!ready.empty()) {
    const std::uint32_t task = ready.extract(ready.begin()).value().second;
    order.push_back(task);
    for (const std::uint32_t later : behind[task]) {
      if (--missing[later] == 0) add(later);
    }
  }
  return order;
}

}  // namespace

Placement place(std::span<const std::vector<std::uint32_t>> predecessors, std::span<const std::uint32_t> blocks,
                std::size_t core_count, std::span<const std::int32_t> priorities) {
  const std::size_t tasks = predecessors.size();
  Placement placement{std::vector<std::vector<Unit>>(core_count), std::vector<std::uint32_t>(tasks, 0),
                      std::vector<std::uint32_t>(tasks, 0), std::vector<std::vector<std::uint32_t>>(tasks)};
  Cores cores(core_count);
  Knowledge knowledge(predecessors, core_count);
  std::vector<double> ends(tasks, 0);
  std::vector<std::size_t> core_of(tasks, 0);                    // of a task with one block
  std::vector<std::optional<std::uint32_t>> first_alone(tasks);  // of a task: the first that waits for nothing else
  for (const std::uint32_t task : order_of(predecessors, priorities)) {
    const auto begin_on = [&](std::size_t core) {
      double begin = cores.free_at(core);
      for (const std::uint32_t earlier : predecessors[task]) {
        const bool here = blocks[earlier] == 1 && core_of[earlier] == core;
        begin = std::max(begin, ends[earlier] + (here ? 0 : kWordTakes));
      }
      return begin;
    };
    std::vector<std::size_t> chosen;
    if (blocks[task] == 1) {
      std::size_t best = cores.earliest();
      double best_begin = begin_on(best);
      std::size_t considered = 0;
      // The last ones end last, mostly.
      for (auto earlier = predecessors[task].rbegin(); earlier != predecessors[task].rend() && considered < kConsidered;
           ++earlier, ++considered) {
        if (blocks[*earlier] != 1) continue;
        const double begin = begin_on(core_of[*earlier]);
        if (begin <= best_begin) {
          best = core_of[*earlier];
          best_begin = begin;
        }
      }
      chosen = {best};
      core_of[task] = best;
    } else {
      chosen = cores.earliest(blocks[task]);
    }
    std::vector<Position> positions;
    for (std::uint32_t block = 0; block < blocks[task]; ++block) {
      const std::size_t core = chosen[block % chosen.size()];
      const double end = begin_on(core) + 1;
      cores.occupy(core, end);
      ends[task] = std::max(ends[task], end);
      positions.push_back({core, static_cast<std::uint32_t>(placement.cores[core].size())});
      placement.cores[core].push_back({task, block});
    }
    std::vector<std::uint32_t> awaited;
    knowledge.add(task, predecessors[task], std::move(positions),
                  [&](std::uint32_t earlier) { awaited.push_back(earlier); });
    for (const std::uint32_t earlier : awaited) placement.needed[task] += blocks[earlier];
    placement.counter[task] = task;
    if (awaited.size() == 1 && first_alone[awaited[0]]) {
      placement.counter[task] = *first_alone[awaited[0]];
      continue;
    }
    if (awaited.size() == 1) first_alone[awaited[0]] = task;
    for (const std::uint32_t earlier : awaited) placement.told[earlier].push_back(task);
  }
  return placement;
}

}  // namespace baton::cuda
