#include "trace/far_notifies.hpp"

#include <deque>
#include <map>
#include <tuple>

namespace baton::trace {

void join_far_notifies(Trace& trace) {
  using Way = std::tuple<Text, std::uint64_t, std::uint64_t, std::uint64_t>;  // window, owner, signal, from whom
  std::map<Way, std::deque<std::uint64_t>> values;
  for (const Span& span : trace.spans) {
    if (span.kind == EventKind::arrival) values[{span.object, span.a, span.b, span.d}].push_back(span.c);
  }
  if (values.empty()) return;
  for (Span& span : trace.spans) {
    if (span.kind != EventKind::notify) continue;
    const auto found = values.find({span.object, span.a, span.b, span.lane.rank});
    if (found == values.end() || found->second.empty()) continue;
    span.c = found->second.front();
    found->second.pop_front();
  }
  std::erase_if(trace.spans, [](const Span& span) { return span.kind == EventKind::arrival; });
}

}  // namespace baton::trace
