// What a rank tells the others of its job, and nobody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/backends/ucx/ucx_gate.hpp"

namespace baton::ucx {

struct PeerRecord {
  std::uint32_t pid = 0;
  std::uint64_t pass = 0;
  std::vector<std::byte> address;  // where its worker takes connections: a sockaddr
  GateKey gate;
};

[[nodiscard]] std::vector<std::byte> pack(const PeerRecord& record);

/// An address and a port, for people.
[[nodiscard]] std::string describe_address(std::span<const std::byte> address);

/// What `rank` has sent. Throws Error (join_refused) if it is of another version, and (protocol) if it is no record.
[[nodiscard]] PeerRecord unpack(std::span<const std::byte> bytes, std::uint32_t rank);

}  // namespace baton::ucx
