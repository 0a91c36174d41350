// What agents and launcher say to each other while a trace is written: what was recorded, and what their clocks show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/host_clock.hpp"
#include "base/trace_file.hpp"
#include "job/frames.hpp"

namespace baton::job {

/// A part of a chunk of a host's own file (base/trace_file.hpp). Of events, `first` is the number of the first one
/// here; of texts, where in the chunk the bytes lie.
struct TracePart {
  std::uint32_t chunk = 0;  // counted in the file
  ChunkKind kind = ChunkKind::live;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t first = 0;
  std::string_view bytes;
};
[[nodiscard]] std::string encode(const TracePart& part);
/// Its bytes are those of the frame. Throws Error (protocol) unless they are whole events, or lie within a chunk.
[[nodiscard]] TracePart decode_trace_part(FrameReader& frame);

/// The launcher's question, and the answer to it.
struct ClockQuestion {
  std::int64_t sent_ns = 0;  // by the clock of who asks
};
struct ClockAnswer {
  std::int64_t sent_ns = 0;  // as it was asked
  ClockReading reading;
};
[[nodiscard]] std::string encode(const ClockQuestion& question);
[[nodiscard]] std::string encode(const ClockAnswer& answer);
[[nodiscard]] ClockQuestion decode_clock_question(FrameReader& frame);
[[nodiscard]] ClockAnswer decode_clock_answer(FrameReader& frame);

}  // namespace baton::job
