// The rendezvous of a rank that an agent started: through that agent, over a local socket.
#pragma once

#include <memory>
#include <string>

#include "base/deadline.hpp"
#include "comm/rendezvous.hpp"

namespace baton::job {

/// Joins at `address`, the value of BATON_AGENT, as `rank`. Throws Error: join_refused if the agent does not want it,
/// join_timeout, peer_died if there is no agent any more.
[[nodiscard]] std::unique_ptr<comm::Rendezvous> join_through_agent(const std::string& address, std::uint32_t rank,
                                                                   const Deadline& deadline);

}  // namespace baton::job
