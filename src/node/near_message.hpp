// What a chip and a node that are on one host, but did not start each other, say to each other before the chip works:
// over a local socket, so the address alone tells that they are on one host.
#pragma once

#include <cstdint>

#include "wire/node_mailbox.hpp"

namespace baton::node {

/// The environment variable that tells a chip where its node listens. The chip removes it.
inline constexpr const char* kNodeVariable = "BATON_NODE_AT";

/// First from the chip, as it is; then from the node, with the descriptor of its segment. Once the chip has joined it
/// comes again, with the descriptor of the control segment of its host. After that the node sends buffers (BufferMail).
struct NearHello {
  std::uint64_t magic = wire::kNodeMagic;
  std::uint32_t version = wire::kNodeVersion;
  std::uint32_t chip = 0;
};
static_assert(sizeof(NearHello) == 16);

[[nodiscard]] constexpr bool operator==(const NearHello& a, const NearHello& b) noexcept {
  return a.magic == b.magic && a.version == b.version && a.chip == b.chip;
}

}  // namespace baton::node
