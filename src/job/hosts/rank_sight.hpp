// A rank as its host sees it, on its way to another host: its block of the control segment and its last events.
#pragma once

#include <cstdint>
#include <string>

#include "base/ticks.hpp"
#include "comm/hang_report.hpp"
#include "job/frames.hpp"
#include "wire/control.hpp"

namespace baton::job {

/// What `rank`, of this host, does: a frame of kind `seen`. Its times travel as ages, because the clock of another host
/// is not ours. `view` may change meanwhile; it has a block for the rank.
[[nodiscard]] std::string encode_sight(const comm::ControlView& view, std::uint32_t rank, TickScale scale);

/// A sight that came.
struct RankSight {
  std::uint32_t rank = 0;
  comm::ProcessSeen process = comm::ProcessSeen::nothing;
  std::string block;   // a wire::RankBlock, as far as its host
  std::string events;  // pieces of an EventArea
};
/// Throws Error (protocol) if it is none.
[[nodiscard]] RankSight decode_sight(FrameReader& frame);

/// Puts it into `picture`, which has a block and an event area for its rank, with times of this host.
void draw(const RankSight& sight, wire::ControlHeader& picture, TickScale scale);

}  // namespace baton::job
