#include "trace/tracks.hpp"

namespace baton::trace {

std::vector<Track> make_tracks(const Trace& trace) {
  struct Rows {
    std::vector<std::int64_t> free_from;
    std::vector<std::vector<std::size_t>> spans;
  };
  std::map<Lane, Rows> lanes;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.kind == EventKind::edge || span.kind == EventKind::lane) continue;
    Rows& rows = lanes[span.lane];
    std::size_t row = 0;
    while (row < rows.free_from.size() && rows.free_from[row] > span.begin) ++row;
    if (row == rows.free_from.size()) {
      rows.free_from.push_back(0);
      rows.spans.emplace_back();
    }
    rows.free_from[row] = span.end;
    rows.spans[row].push_back(i);
  }
  std::vector<Track> tracks;
  for (auto& [lane, rows] : lanes) {
    for (std::size_t row = 0; row < rows.spans.size(); ++row) {
      tracks.push_back({lane, static_cast<std::uint32_t>(row), std::move(rows.spans[row])});
    }
  }
  return tracks;
}

}  // namespace baton::trace
