// Spans in rows: in one row none begins before the one in front of it has ended.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace baton::trace {

struct Track {
  Lane lane;
  std::uint32_t depth = 0;         // 0: the outermost
  std::vector<std::size_t> spans;  // by begin
};

/// Rows of all lanes, by rank, lane and depth. Edges and names of lanes are not in them.
[[nodiscard]] std::vector<Track> make_tracks(const Trace& trace);

}  // namespace baton::trace
