// A node on the host of its chip, which an agent has started: how the chip finds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "comm/world.hpp"

namespace baton::node {

struct NearNode {
  UniqueFd socket;   // ends with the node; buffers come through it
  UniqueFd segment;  // of the node
};

/// Tells the node at `address` that this process is its chip `chip`. Nothing if that address is not of this host, or
/// the node's user is another one: then the node is reached by messages. Before the chip meets the others. Throws Error
/// (protocol, join_timeout).
[[nodiscard]] std::optional<NearNode> visit_node(const std::string& address, std::uint32_t chip);

/// Gives the node what it rings this chip through. Before the chip counts as ready.
void tell_control(int socket, comm::World& chip);

}  // namespace baton::node
