#include "trace/deferrals.hpp"

#include <algorithm>
#include <map>

#include "trace/pieces.hpp"

namespace baton::trace {

void shorten_deferrals(Trace& trace) {
  std::map<std::uint32_t, std::vector<Span*>> deferrals;
  std::map<std::uint32_t, Pieces> busy;
  for (Span& span : trace.spans) {
    if (span.kind == EventKind::deferral) deferrals[span.lane.rank].push_back(&span);
    const EventClass is = span.counts_as();
    const bool is_of_chip = span.lane.lane != kProgramLane && (is == EventClass::work || is == EventClass::copying);
    if (is_of_chip) busy[span.lane.rank].emplace_back(span.begin, span.end);
  }
  if (deferrals.empty()) return;
  for (auto& [rank, spans] : deferrals) {
    Pieces& work = busy[rank];
    merge(work);
    std::ranges::sort(spans, {}, &Span::end);
    std::int64_t free_from = 0;
    for (Span* const span : spans) {
      span->d = static_cast<std::uint64_t>(span->begin);
      const auto after = std::ranges::lower_bound(work, span->end, {}, [](const auto& piece) { return piece.first; });
      if (after != work.begin()) free_from = std::max(free_from, std::prev(after)->second);
      span->begin = std::clamp(free_from, span->begin, span->end);
      free_from = std::max(free_from, span->end);
    }
  }
  std::ranges::stable_sort(trace.spans, {}, &Span::begin);
}

}  // namespace baton::trace
