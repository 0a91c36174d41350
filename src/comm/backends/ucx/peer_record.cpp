#include "comm/backends/ucx/peer_record.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "wire/path_message.hpp"

namespace baton::ucx {
namespace {

/// How a PeerRecord travels: this, then the address, then the places of its gate.
struct WireRecord {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t pid;
  std::uint32_t address_bytes;
  std::uint64_t pass;
  std::uint64_t places;
  HashKey key;
};

}  // namespace

std::string describe_address(std::span<const std::byte> address) {
  sockaddr_storage given{};
  std::memcpy(&given, address.data(), std::min(address.size(), sizeof given));
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  const int status = ::getnameinfo(reinterpret_cast<const sockaddr*>(&given), static_cast<socklen_t>(address.size()),
                                   host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  if (status != 0) return "an address that is none";
  return given.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::vector<std::byte> pack(const PeerRecord& record) {
  const WireRecord head{
      wire::kPathMagic, wire::kPathVersion,        record.pid,     static_cast<std::uint32_t>(record.address.size()),
      record.pass,      record.gate.places.size(), record.gate.key};
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(&head, 1)), std::span(record.address),
                                              std::as_bytes(std::span(record.gate.places))};
  std::vector<std::byte> bytes(parts[0].size() + parts[1].size() + parts[2].size());
  auto end = bytes.begin();
  for (const auto& part : parts) end = std::copy(part.begin(), part.end(), end);
  return bytes;
}

PeerRecord unpack(std::span<const std::byte> bytes, std::uint32_t rank) {
  WireRecord head{};
  if (!bytes.empty()) std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
  if (head.magic == wire::kPathMagic && head.version != wire::kPathVersion) {
    fail(Code::join_refused, "rank {} speaks version {} between hosts, this rank version {}", rank, head.version,
         wire::kPathVersion);
  }
  const std::uint64_t places_bytes = std::min<std::uint64_t>(head.places, kMostPlaces) * sizeof(SocketPlace);
  if (head.magic != wire::kPathMagic || head.places > kMostPlaces ||
      bytes.size() != sizeof head + head.address_bytes + places_bytes) {
    fail(Code::protocol, "rank {} sent {} bytes about itself that are not a record of Baton's", rank, bytes.size());
  }
  if (head.address_bytes != sizeof(sockaddr_in) && head.address_bytes != sizeof(sockaddr_in6)) {
    fail(Code::protocol, "rank {} sent an address of {} bytes", rank, head.address_bytes);
  }
  const std::span<const std::byte> address = bytes.subspan(sizeof head, head.address_bytes);
  PeerRecord record{head.pid, head.pass, {address.begin(), address.end()}, {head.key, {}}};
  record.gate.places.resize(head.places);
  if (places_bytes != 0) {
    std::memcpy(record.gate.places.data(), bytes.data() + sizeof head + head.address_bytes, places_bytes);
  }
  return record;
}

}  // namespace baton::ucx
