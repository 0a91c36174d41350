#include "trace/critical_path.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace baton::trace {
namespace {

/// What of a rank contains others: which of them is the innermost at each moment.
class Surroundings {
 public:
  Surroundings() = default;
  /// Spans that contain others, by their begins.
  Surroundings(const Trace& trace, const std::vector<std::size_t>& spans) {
    std::vector<std::pair<std::int64_t, std::size_t>> ends;
    ends.reserve(spans.size());
    for (const std::size_t i : spans) ends.emplace_back(trace.spans[i].end, i);
    std::ranges::sort(ends);
    std::set<std::size_t> open;  // spans are sorted by begin: the last one is the innermost
    auto begin = spans.begin();
    for (const auto& [end, ended] : ends) {
      for (; begin != spans.end() && trace.spans[*begin].begin < end; ++begin) {
        open.insert(*begin);
        note(trace.spans[*begin].begin, open);
      }
      open.erase(ended);
      note(end, open);
    }
  }

  /// What surrounds the moment before `time`, and since when.
  [[nodiscard]] std::pair<std::optional<std::size_t>, std::int64_t> before(std::int64_t time) const {
    const auto after = std::ranges::lower_bound(changes_, time, {}, &Change::at);
    if (after == changes_.begin()) return {std::nullopt, 0};
    return {std::prev(after)->innermost, std::prev(after)->at};
  }

 private:
  struct Change {
    std::int64_t at;
    std::optional<std::size_t> innermost;
  };
  void note(std::int64_t at, const std::set<std::size_t>& open) {
    changes_.push_back({at, open.empty() ? std::nullopt : std::optional(*open.rbegin())});
  }
  std::vector<Change> changes_;  // by time; of equal times the last one counts
};

class PathFinder {
 public:
  PathFinder(const Trace& trace, const std::vector<Flow>& notifies) : trace_(trace) {
    std::map<std::uint32_t, std::vector<std::size_t>> enclosing;
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
      const Span& span = trace.spans[i];
      const EventClass is = span.counts_as();
      if (is == EventClass::mark || span.length() == 0) continue;
      (is == EventClass::enclosing ? enclosing : by_end_)[span.lane.rank].push_back(i);
    }
    for (auto& [rank, spans] : by_end_) {
      std::ranges::sort(spans, {}, [&](std::size_t i) { return trace.spans[i].end; });
    }
    for (const auto& [rank, spans] : enclosing) surroundings_.emplace(rank, Surroundings(trace, spans));
    for (const Flow& flow : notifies) ended_by_[flow.to] = &flow;
  }

  [[nodiscard]] std::vector<PathPart> find() {
    std::optional<std::size_t> last;
    for (const auto& [rank, spans] : by_end_) {
      if (!last || trace_.spans[spans.back()].end > trace_.spans[*last].end) last = spans.back();
    }
    if (!last) return {};
    std::uint32_t rank = trace_.spans[*last].lane.rank;
    std::int64_t at = trace_.spans[*last].end;
    while (at > 0) {
      const auto& spans = by_end_[rank];
      const auto after = std::ranges::upper_bound(spans, at, {}, [&](std::size_t i) { return trace_.spans[i].end; });
      if (after == spans.begin()) {
        add_gap(rank, 0, at);
        break;
      }
      const std::size_t index = *std::prev(after);
      const Span& span = trace_.spans[index];
      if (span.end < at) add_gap(rank, span.end, at);
      const auto found = ended_by_.find(index);
      if (found != ended_by_.end() && found->second->left > span.begin && found->second->left < span.end) {
        // What counted was not the wait but what the other rank did meanwhile.
        path_.push_back({found->second->left, span.end, rank, index, std::nullopt});
        rank = trace_.spans[found->second->from].lane.rank;
        at = found->second->left;
      } else {
        path_.push_back({span.begin, span.end, rank, index, std::nullopt});
        at = span.begin;
      }
    }
    return std::move(path_);
  }

 private:
  /// The rank did nothing that is recorded: what it was in the middle of.
  void add_gap(std::uint32_t rank, std::int64_t begin, std::int64_t end) {
    const Surroundings& around = surroundings_[rank];
    while (end > begin) {
      const auto [innermost, since] = around.before(end);
      const std::int64_t from = std::max(begin, since);
      path_.push_back({from, end, rank, std::nullopt, innermost});
      end = from;
    }
  }

  const Trace& trace_;
  std::map<std::uint32_t, std::vector<std::size_t>> by_end_;  // spans of a rank that take time
  std::map<std::uint32_t, Surroundings> surroundings_;
  std::unordered_map<std::size_t, const Flow*> ended_by_;
  std::vector<PathPart> path_;
};

}  // namespace

std::vector<PathPart> find_critical_path(const Trace& trace, const std::vector<Flow>& notifies) {
  return PathFinder(trace, notifies).find();
}

}  // namespace baton::trace
