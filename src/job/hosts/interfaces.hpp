// The network interfaces of this host, and sockets on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"

namespace baton::job {

struct NetworkInterface {
  std::string name;
  std::vector<std::string> addresses;  // as text; those of IPv4 first, none that is valid on one link only
  bool loopback = false;
};

/// Those that are up and have an address; the loopback last.
[[nodiscard]] std::vector<NetworkInterface> network_interfaces();

/// The addresses at which other hosts may reach this one, those of `interface` alone if it is not empty. Throws Error
/// (invalid_argument) with those that there are if there is none of that name.
[[nodiscard]] std::vector<std::string> addresses_to_offer(const std::string& interface);

struct ListeningSocket {
  UniqueFd fd;  // does not block
  std::uint16_t port = 0;
};
/// On a port of the system's choice, at `address` or, if it is empty, at all of this host. Throws Error (system).
[[nodiscard]] ListeningSocket listen_at(const std::string& address, int backlog);
/// The same on the first of `ports` that is free; empty: of the system's choice.
[[nodiscard]] ListeningSocket listen_at_one_of(const std::vector<std::uint16_t>& ports, const std::string& address,
                                               int backlog);

/// Connects; the socket does not block. Throws Error (system) with the reason, at the deadline too.
[[nodiscard]] UniqueFd connect_to(const std::string& address, std::uint16_t port, const Deadline& deadline);
/// Begins to connect: when the socket can be written to, connection_error() tells what came of it.
[[nodiscard]] UniqueFd begin_to_connect(const std::string& address, std::uint16_t port);
/// An errno, or 0.
[[nodiscard]] int connection_error(int socket) noexcept;

/// The addresses that `host`, a name or an address, has. Throws Error (system) if there are none. May ask a server for
/// some seconds.
[[nodiscard]] std::vector<std::string> addresses_of(const std::string& host);

/// Small frames are sent at once, and a peer that acknowledges nothing for kSilence is gone: the kernel of a busy host,
/// unlike its processes, answers at once. The kernel counts from when it sends again what was not acknowledged, 200 ms
/// after it was sent or later: with kHeartbeat a link that is cut is noticed after 1 to 1.3 s.
void expect_answers(int socket);
inline constexpr std::chrono::milliseconds kSilence{800};
/// How often something has to be sent, so that a silent host is noticed.
inline constexpr std::chrono::milliseconds kHeartbeat{200};

/// The name under which others see this host.
[[nodiscard]] std::string own_host_name();
/// The address of this end of a connection; empty if it is one that only this host knows.
[[nodiscard]] std::string own_address(int socket);
/// The other end, for messages: "10.0.0.3 port 41234".
[[nodiscard]] std::string peer_address(int socket);

}  // namespace baton::job
