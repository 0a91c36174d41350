// What is said while a job gathers that another launcher than `baton run` started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "job/frames.hpp"
#include "job/rank_messages.hpp"

namespace baton::job {

/// Both ends must have the same; changes with any change of a frame.
inline constexpr std::uint32_t kGatheringProtocol = 3;

/// What the rank that starts the agent of its host tells it.
struct GatheringOrder {
  std::string job;                   // equal at all ranks, different for any two jobs
  std::string token;                 // of the job, in hexadecimal digits
  std::vector<std::string> roots;    // names or addresses of the host of rank 0; empty: rank 0 is on this host
  std::vector<std::uint16_t> ports;  // there: one of them; empty, for rank 0: any
  std::string interface;             // over which other hosts reach this one; empty: any
  std::int64_t patience_ns = 0;      // for the ranks to arrive
};
[[nodiscard]] std::string encode(const GatheringOrder& order);
/// Throws Error (protocol) for another version, too.
[[nodiscard]] GatheringOrder decode_gathering_order(FrameReader& frame);

/// The agent of a host introduces itself.
struct Attend {
  std::uint32_t protocol = kGatheringProtocol;
  std::string version;
  std::string host;     // its name
  std::string address;  // by which others reach it; empty: it does not know
};
[[nodiscard]] std::string encode(const Attend& attend);
[[nodiscard]] Attend decode_attend(FrameReader& frame);

/// A rank came to its agent.
struct Claim {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::int32_t pid = 0;
};
[[nodiscard]] std::string encode(const Claim& claim);
[[nodiscard]] Claim decode_claim(FrameReader& frame);

/// Where the agent of rank 0 is found.
struct Reachable {
  std::vector<std::string> addresses;
  std::uint16_t port = 0;
};
[[nodiscard]] std::string encode(const Reachable& reachable);
[[nodiscard]] Reachable decode_reachable(FrameReader& frame);

/// Why a rank, or every rank, will not meet the others.
struct Failure {
  std::optional<std::uint32_t> rank;
  Error error;
};
[[nodiscard]] std::string encode(const Failure& failure);
[[nodiscard]] Failure decode_failure(FrameReader& frame);

}  // namespace baton::job
