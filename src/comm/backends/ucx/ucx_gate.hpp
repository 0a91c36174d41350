// Who may connect to where UCX listens: hosts of the job, and nobody else.
//
// UCX 1.13 takes what comes through a connection for its own, and aborts if it is not: nothing that a stranger sends
// may get so far. Its sockets are its own, so the system is told to drop what other addresses send to them.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace baton::ucx {

/// Of a host; IPv4 addresses as ::ffff:a.b.c.d.
using HostAddress = std::array<std::uint8_t, 16>;

/// Those that others may see this host under: all but those of the loopback, and `address` in any case. At most
/// kMostHostAddresses.
[[nodiscard]] std::vector<HostAddress> addresses_of_host(const std::string& address);
inline constexpr std::size_t kMostHostAddresses = 64;

class Gate {
 public:
  /// Before UCX listens.
  Gate();
  /// Notes the sockets that have begun to listen at `address` since.
  void note_sockets(const std::string& address);
  /// From now on they take connections from these only. False, with a line in the log, if the system does not do it.
  bool admit_only(std::span<const HostAddress> hosts) noexcept;

 private:
  std::set<int> before_;
  std::vector<int> sockets_;  // UCX's
};

}  // namespace baton::ucx
