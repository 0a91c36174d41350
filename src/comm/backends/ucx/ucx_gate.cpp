#include "comm/backends/ucx/ucx_gate.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/fail.hpp"
#include "base/log.hpp"

namespace baton::ucx {
namespace {

// Where the sender's address is in a packet.
constexpr std::uint32_t kSourceOfIpv4 = 12;
constexpr std::uint32_t kSourceOfIpv6 = 8;
constexpr std::size_t kIpv4At = 12;  // in a HostAddress

HostAddress with_ipv4(const in_addr& address) {
  HostAddress host{};
  host[10] = host[11] = 0xff;
  std::memcpy(host.data() + kIpv4At, &address, sizeof address);
  return host;
}

bool is_ipv4(const HostAddress& host) {
  constexpr HostAddress kPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kPrefix.begin(), kPrefix.begin() + kIpv4At, host.begin());
}

std::optional<HostAddress> host_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) return with_ipv4(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  if (address.sa_family != AF_INET6) return std::nullopt;
  HostAddress host{};
  std::memcpy(host.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, host.size());
  return host;
}

std::optional<HostAddress> parse(const std::string& text) {
  in_addr four{};
  HostAddress host{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return with_ipv4(four);
  if (::inet_pton(AF_INET6, text.c_str(), host.data()) == 1) return host;
  return std::nullopt;
}

/// The sockets of this process that listen for connections over a network.
std::set<int> listening_sockets() {
  std::set<int> sockets;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    int value = 0;
    socklen_t length = sizeof value;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) != 0 || value == 0) continue;
    if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &value, &length) != 0) continue;
    if (value == AF_INET || value == AF_INET6) sockets.insert(fd);
  }
  return sockets;
}

std::optional<HostAddress> address_of(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return std::nullopt;
  return host_address(reinterpret_cast<const sockaddr&>(address));
}

std::uint32_t word_of(const HostAddress& host, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, host.data() + at, sizeof word);
  return ntohl(word);
}

/// A filter of packets that passes those of `hosts`. Its jumps are short, so each address ends by itself.
std::vector<sock_filter> filter_for(std::span<const HostAddress> hosts, bool four) {
  std::vector<sock_filter> program;
  const auto load = [&](std::uint32_t offset) {
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_NET_OFF) + offset));
  };
  const auto pass = [&] { program.push_back(BPF_STMT(BPF_RET | BPF_K, ~0U)); };
  if (four) load(kSourceOfIpv4);
  for (const HostAddress& host : hosts) {
    if (is_ipv4(host) != four) continue;
    if (four) {
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word_of(host, kIpv4At), 0, 1));
      pass();
      continue;
    }
    for (std::uint32_t word = 0; word < 4; ++word) {
      load(kSourceOfIpv6 + 4 * word);
      const auto left = static_cast<std::uint8_t>(2 * (3 - word) + 1);
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word_of(host, 4 * word), 0, left));
    }
    pass();
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  return program;
}

}  // namespace

std::vector<HostAddress> addresses_of_host(const std::string& address) {
  std::vector<HostAddress> hosts;
  if (const auto mine = parse(address)) hosts.push_back(*mine);
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) fail_system("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr && hosts.size() < kMostHostAddresses; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const auto host = host_address(*one->ifa_addr);
    if (host && std::find(hosts.begin(), hosts.end(), *host) == hosts.end()) hosts.push_back(*host);
  }
  return hosts;
}

Gate::Gate() : before_(listening_sockets()) {}

void Gate::note_sockets(const std::string& address) {
  const auto where = parse(address);
  for (const int socket : listening_sockets()) {
    if (!before_.contains(socket) && where && address_of(socket) == where) sockets_.push_back(socket);
  }
  before_.clear();
}

bool Gate::admit_only(std::span<const HostAddress> hosts) noexcept {
  try {
    for (const int socket : sockets_) {
      const auto mine = address_of(socket);
      if (!mine) continue;
      std::vector<sock_filter> program = filter_for(hosts, is_ipv4(*mine));
      const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
      if (program.size() > BPF_MAXINSNS ||
          ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0) {
        log::info("who may connect to this rank is not limited to the {} addresses of its job's hosts: {}",
                  hosts.size(), ::strerrordesc_np(program.size() > BPF_MAXINSNS ? E2BIG : errno));
        return false;
      }
    }
    return true;
  } catch (const std::exception& error) {
    log::info("who may connect to this rank is not limited to its job: {}", error.what());
    return false;
  }
}

}  // namespace baton::ucx
