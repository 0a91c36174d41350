// What the frames between a launcher and its agents hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "comm/rendezvous.hpp"
#include "job/frames.hpp"
#include "job/host_list.hpp"
#include "job/job_snapshot.hpp"
#include "job/launch/rank_processes.hpp"
#include "job/rank_messages.hpp"

namespace baton::job {

/// Both ends must have the same; changes with any change of a frame.
inline constexpr std::uint32_t kAgentProtocol = 5;

struct Hello {
  std::uint32_t protocol = kAgentProtocol;
  std::string version;
  std::uint32_t host = 0;  // index
};
[[nodiscard]] std::string encode(const Hello& hello);
[[nodiscard]] Hello decode_hello(FrameReader& frame);

/// What an agent is to run.
struct JobOrder {
  std::string job;
  std::string folder;                    // the ranks start in it
  std::vector<std::string> command;      // as the user wrote it; looked up on the host of the agent
  std::vector<std::string> environment;  // NAME=value
  std::uint32_t size = 0;
  std::uint32_t host = 0;        // index of the agent's own
  std::vector<HostShare> hosts;  // all of the job
  bool bind = false;
  bool traces = false;  // the launcher wants what the ranks record
  /// The only rank of the last host is the node that drives the others: a process that runs already, with this pid. 0:
  /// no such rank.
  std::int32_t node = 0;
  /// By which the others reach the host of the node.
  std::string node_address = {};
};
[[nodiscard]] std::string encode(const JobOrder& order);
/// Throws Error (protocol) unless the hosts share the ranks without gaps.
[[nodiscard]] JobOrder decode_job(FrameReader& frame);

/// Ages, not times, go from host to host: the clock of another host is not ours.
[[nodiscard]] std::string encode(const RankEnding& ending);
[[nodiscard]] RankEnding decode_ended(FrameReader& frame);

/// Which stream of which rank.
struct StreamName {
  std::uint32_t rank = 0;
  bool error = false;
};
[[nodiscard]] std::string encode_output(StreamName stream, std::string_view bytes);
[[nodiscard]] std::string encode_output_end(StreamName stream);
[[nodiscard]] std::string encode_room(StreamName stream, std::uint64_t bytes);
[[nodiscard]] StreamName decode_stream(FrameReader& frame);

}  // namespace baton::job
