// The rendezvous of a rank through the agent of its host, over a local socket.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "comm/rendezvous.hpp"
#include "job/gathering_messages.hpp"

namespace baton::job {

/// Joins at `address`, the value of BATON_AGENT, as `rank`. Throws Error: join_refused if the agent does not want it,
/// join_timeout, peer_died if there is no agent any more.
[[nodiscard]] std::unique_ptr<comm::Rendezvous> join_through_agent(const std::string& address, std::uint32_t rank,
                                                                   const Deadline& deadline);

/// The same over `connection`, to an agent that did not start this rank. `on_reachable` is told where other agents find
/// it, if it says so.
[[nodiscard]] std::unique_ptr<comm::Rendezvous> join_through_agent(
    UniqueFd connection, const Join& join, const Deadline& deadline,
    const std::function<void(const Reachable&)>& on_reachable);

}  // namespace baton::job
