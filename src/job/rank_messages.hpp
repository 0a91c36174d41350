// What the frames hold that agents pass on between ranks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <baton/error.hpp>

#include "comm/rendezvous.hpp"
#include "job/frames.hpp"

namespace baton::job {

/// A part of a record: long ones travel in pieces.
struct RecordPart {
  std::uint64_t sequence = 0;  // of the exchange, from 0 on
  std::uint32_t rank = 0;
  std::uint32_t membership = 0;  // of that rank, from 1 on: its agent counts
  bool last = true;
  std::string_view bytes;
};
inline constexpr std::size_t kRecordPartBytes = std::size_t{1} << 20;
[[nodiscard]] std::string encode(const RecordPart& part);
/// Its bytes are those of the frame.
[[nodiscard]] RecordPart decode_record(FrameReader& frame);

[[nodiscard]] std::string encode(const comm::RankEnd& end);
[[nodiscard]] comm::RankEnd decode_rank_end(FrameReader& frame);

/// A rank that wants to take part.
struct Join {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;  // of the job; 0: the agent knows
};
[[nodiscard]] std::string encode(const Join& join);
[[nodiscard]] Join decode_join(FrameReader& frame);

/// Who is where, for a rank that joins.
struct Welcome {
  std::string job;
  std::vector<std::string> hosts;
  std::vector<std::uint32_t> host_of;  // by rank
  std::string address;                 // of this host, as others reach it; may be empty
};
[[nodiscard]] std::string encode(const Welcome& welcome);
/// Throws Error (protocol) if a rank is on a host that is not there.
[[nodiscard]] Welcome decode_welcome(FrameReader& frame);

/// As decode_not_started() reads it.
void put_error(FrameWriter& frame, const Error& error);

/// Why a rank was not started.
[[nodiscard]] std::string encode_not_started(const Error& error);
[[nodiscard]] Error decode_not_started(FrameReader& frame);

/// What an agent sees of the process of a rank.
struct ProcessSight {
  std::int32_t rank = 0;
  bool is_stopped = false;
};
[[nodiscard]] std::string encode(const ProcessSight& sight);
[[nodiscard]] ProcessSight decode_process_sight(FrameReader& frame);

/// For a rank that its agent does not start: sockets of its host.
struct Meeting {
  std::string agent;  // where it joins
  std::string watch;  // who shows its control segment to others
};
[[nodiscard]] std::string encode(const Meeting& meeting);
[[nodiscard]] Meeting decode_meeting(FrameReader& frame);

}  // namespace baton::job
