// What a node and the launcher of its chips on other hosts say to each other, beside what rank_messages.hpp has.
//
// From the node: `job`, then `signal_rank` and `stopped`. From the launcher: `meeting`, `started` and `ended` of each
// chip, `not_started`, `stopped`. Each ends with the connection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job/frames.hpp"
#include "job/host_list.hpp"

namespace baton::job {

/// The descriptor of the launcher that leads to its node.
inline constexpr int kNodeFd = 3;

/// Which chips to start, and how.
struct NodeOrder {
  std::string program;                   // of the chips; looked up on each host
  std::string folder;                    // they start in it
  std::vector<std::string> environment;  // NAME=value
  std::vector<HostShare> hosts;          // of the chips
  std::string launch_agent = {};         // empty: ssh
  std::string remote_baton = {};         // empty: where the launcher is
  std::string interface = {};            // empty: any
  std::uint64_t patience_ns = 0;         // how long the hosts may take
  std::string trace = {};                // the node's file, to which goes what the chips record; empty: none
};
[[nodiscard]] std::string encode(const NodeOrder& order);
/// Throws Error (protocol).
[[nodiscard]] NodeOrder decode_node_order(FrameReader& frame);

/// How a chip ended, in words: "SIGKILL", "host b does not answer".
struct ChipEnd {
  std::int32_t chip = 0;
  std::string how = {};
};
[[nodiscard]] std::string encode(const ChipEnd& end);
[[nodiscard]] ChipEnd decode_chip_end(FrameReader& frame);

struct ChipStart {
  std::int32_t chip = 0;
  std::int32_t pid = 0;  // on its host
};
[[nodiscard]] std::string encode(const ChipStart& start);
[[nodiscard]] ChipStart decode_chip_start(FrameReader& frame);

}  // namespace baton::job
