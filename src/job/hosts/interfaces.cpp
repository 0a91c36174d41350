#include "job/hosts/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "base/quote.hpp"

namespace baton::job {
namespace {

socklen_t length_of(const sockaddr& address) {
  return address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

struct NamedAddress {
  std::string host;
  std::string port;
};

NamedAddress name_of(const sockaddr& address) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(&address, length_of(address), host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  NamedAddress name{host, port};
  constexpr std::string_view kMapped = "::ffff:";
  if (name.host.starts_with(kMapped)) name.host.erase(0, kMapped.size());
  return name;
}

/// Whether the address means the same on all links.
bool is_global(const sockaddr& address) {
  if (address.sa_family == AF_INET) return true;
  if (address.sa_family != AF_INET6) return false;
  return !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

struct AnyAddress {
  sockaddr_storage storage{};
  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

/// `text` as an address; all of this host if it is empty.
AnyAddress parse_address(const std::string& text, std::uint16_t port) {
  AnyAddress out;
  auto& v4 = reinterpret_cast<sockaddr_in&>(out.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(out.storage);
  if (text.empty() || ::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
  } else if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
  } else {
    fail(Code::protocol, "{} is not an address", quote(text));
  }
  return out;
}

UniqueFd make_socket(int family) {
  return UniqueFd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
}

}  // namespace

std::vector<NetworkInterface> network_interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) fail_system("getifaddrs");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<NetworkInterface> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0 || !is_global(*entry->ifa_addr)) continue;
    const std::string address = name_of(*entry->ifa_addr).host;
    auto place = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.name == entry->ifa_name; });
    if (place == found.end()) {
      place = found.insert(found.end(), {entry->ifa_name, {}, (entry->ifa_flags & IFF_LOOPBACK) != 0});
    }
    if (!address.empty()) place->addresses.push_back(address);
  }
  std::stable_partition(found.begin(), found.end(), [](const auto& one) { return !one.loopback; });
  return found;
}

std::vector<std::string> addresses_to_offer(const std::string& interface) {
  std::vector<std::string> addresses;
  std::vector<std::string> names;
  for (const NetworkInterface& one : network_interfaces()) {
    names.push_back(one.name);
    if (interface.empty() || one.name == interface) {
      addresses.insert(addresses.end(), one.addresses.begin(), one.addresses.end());
    }
  }
  if (addresses.empty()) {
    fail(Situation::unknown_choice, "no network interface {} is up; there are {}",
         interface.empty() ? "at all" : quote(interface), fmt::join(names, ", "));
  }
  return addresses;
}

namespace {

ListeningSocket listen_on(const std::string& address, std::uint16_t port, int backlog) {
  AnyAddress where = parse_address(address, port);
  ListeningSocket out{.fd = make_socket(where.get()->sa_family), .port = 0};
  const int no = 0;
  const int yes = 1;
  if (!out.fd && address.empty()) {  // a system without IPv6
    where = parse_address("0.0.0.0", port);
    out.fd = make_socket(AF_INET);
  } else if (address.empty()) {
    ::setsockopt(out.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (!out.fd) fail_system("making a socket for agents");
  // Connections of a job that has ended do not keep its port.
  if (port != 0) ::setsockopt(out.fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  socklen_t length = length_of(*where.get());
  if (::bind(out.fd.get(), where.get(), length) != 0 || ::listen(out.fd.get(), backlog) != 0 ||
      ::getsockname(out.fd.get(), where.get(), &length) != 0) {
    const int reason = errno;
    if (port != 0 && reason == EADDRINUSE) return {};
    fail_system(fmt::format("listening for agents at {}", address.empty() ? "all addresses" : address), reason);
  }
  out.port = ntohs(reinterpret_cast<const sockaddr_in&>(where.storage).sin_port);
  return out;
}

}  // namespace

ListeningSocket listen_at(const std::string& address, int backlog) { return listen_on(address, 0, backlog); }

ListeningSocket listen_at_one_of(const std::vector<std::uint16_t>& ports, const std::string& address, int backlog) {
  if (ports.empty()) return listen_on(address, 0, backlog);
  for (const std::uint16_t port : ports) {
    if (ListeningSocket socket = listen_on(address, port, backlog); socket.fd) return socket;
  }
  fail_system(fmt::format("listening for agents on port {}", fmt::join(ports, ", ")), EADDRINUSE);
}

UniqueFd begin_to_connect(const std::string& address, std::uint16_t port) {
  AnyAddress where = parse_address(address, port);
  UniqueFd socket = make_socket(where.get()->sa_family);
  if (!socket) fail_system("making a socket");
  if (::connect(socket.get(), where.get(), length_of(*where.get())) != 0 && errno != EINPROGRESS) {
    fail_system(fmt::format("connecting to {} port {}", address, port));
  }
  return socket;
}

int connection_error(int socket) noexcept {
  int error_number = 0;
  socklen_t length = sizeof error_number;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error_number, &length) == 0 ? error_number : errno;
}

std::vector<std::string> addresses_of(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list); error != 0) {
    fail(Code::system, "no address of {} is known: {}", quote(host), ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    std::string address = name_of(*entry->ai_addr).host;
    if (!address.empty() && std::ranges::find(addresses, address) == addresses.end())
      addresses.push_back(std::move(address));
  }
  return addresses;
}

UniqueFd connect_to(const std::string& address, std::uint16_t port, const Deadline& deadline) {
  UniqueFd socket = begin_to_connect(address, port);
  pollfd ready{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  while (::poll(&ready, 1, deadline.poll_timeout_ms()) < 0 && errno == EINTR) {
  }
  const int error_number = ready.revents == 0 ? ETIMEDOUT : connection_error(socket.get());
  if (error_number != 0) fail_system(fmt::format("connecting to {} port {}", address, port), error_number);
  return socket;
}

void expect_answers(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const unsigned int silence = kSilence.count();
  if (::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof silence) != 0) {
    fail_system("setsockopt(TCP_USER_TIMEOUT)");
  }
}

std::string own_host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

std::string own_address(int socket) {
  AnyAddress own;
  socklen_t length = sizeof own.storage;
  if (::getsockname(socket, own.get(), &length) != 0) return {};
  std::string name = name_of(*own.get()).host;
  return name.starts_with("127.") || name == "::1" ? std::string() : name;
}

std::string peer_address(int socket) {
  AnyAddress peer;
  socklen_t length = sizeof peer.storage;
  if (::getpeername(socket, peer.get(), &length) != 0) return "an unknown address";
  const NamedAddress name = name_of(*peer.get());
  return fmt::format("{} port {}", name.host, name.port);
}

}  // namespace baton::job
