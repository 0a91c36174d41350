#include "port.hpp"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace delay {
namespace {

constexpr const char* kBridge = "bridge";
constexpr int kReceiveBytes = 64 << 20;  // several windows of TCP, each cut into small frames
constexpr int kSendBytes = 4 << 20;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void set(int socket, int level, int option, int value, const char* what) {
  if (setsockopt(socket, level, option, &value, sizeof value) != 0) fail(what);
}

/// `request` is SIOCBRADDIF or SIOCBRDELIF. Returns 0 or the error of the system.
int change_bridge(unsigned long request, const std::string& port) {
  const baton::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq change{};
  std::strncpy(change.ifr_name, kBridge, IFNAMSIZ - 1);
  change.ifr_ifindex = static_cast<int>(if_nametoindex(port.c_str()));
  return ioctl(socket.get(), request, &change) == 0 ? 0 : errno;
}

}  // namespace

Port::Port(std::string name, std::optional<Nanoseconds> delay) : name_(std::move(name)), delay_(delay) {
  socket_.reset(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) fail("a packet socket");
  // Frames come and go as large as TCP makes them.
  set(descriptor(), SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
  set(descriptor(), SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
  set(descriptor(), SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
  set(descriptor(), SOL_SOCKET, SO_RCVBUFFORCE, kReceiveBytes, "SO_RCVBUFFORCE");
  set(descriptor(), SOL_SOCKET, SO_SNDBUFFORCE, kSendBytes, "SO_SNDBUFFORCE");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(name_.c_str()));
  if (address.sll_ifindex == 0) fail("the port " + name_);
  // A program that was killed has left it outside.
  if (const int error = change_bridge(SIOCBRDELIF, name_); error != 0 && error != EINVAL) {
    errno = error;
    fail("taking " + name_ + " out of the bridge");
  }
  if (bind(descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("binding to " + name_);
}

Port::~Port() {
  socket_.reset();
  static_cast<void>(change_bridge(SIOCBRADDIF, name_));
}

void Port::take(FrameRoom& room) {
  constexpr std::size_t kBatch = 32;
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> places{};
  struct alignas(cmsghdr) Stamp {
    std::array<std::byte, CMSG_SPACE(sizeof(timespec))> bytes;
  };
  std::array<Stamp, kBatch> stamps{};
  while (room.left() > 0) {
    const std::size_t most = std::min(kBatch, room.left());
    for (std::size_t i = 0; i < most; ++i) {
      places[i] = {room.take(), Frame::kMostBytes};
      messages[i] = {};
      messages[i].msg_hdr.msg_iov = &places[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_control = &stamps[i];
      messages[i].msg_hdr.msg_controllen = sizeof stamps[i];
    }
    const int came = recvmmsg(descriptor(), messages.data(), static_cast<unsigned>(most), MSG_DONTWAIT, nullptr);
    const std::size_t count = came < 0 ? 0 : static_cast<std::size_t>(came);
    // Stamps are of the clock that may be set.
    const Nanoseconds behind = clock_now(CLOCK_REALTIME) - now();
    for (std::size_t i = most; i-- > count;) room.give_back(static_cast<std::byte*>(places[i].iov_base));
    for (std::size_t i = 0; i < count; ++i) {
      const cmsghdr* const control = CMSG_FIRSTHDR(&messages[i].msg_hdr);
      Nanoseconds sent = now();
      if (control != nullptr && control->cmsg_type == SO_TIMESTAMPNS) {
        timespec stamp{};
        std::memcpy(&stamp, CMSG_DATA(control), sizeof stamp);
        sent = std::min(sent, in_nanoseconds(stamp) - behind);
      }
      waiting_.push_back(
          {static_cast<std::byte*>(places[i].iov_base), messages[i].msg_len, sent, sent + delay_.value_or(0)});
    }
    if (count < most) return;
  }
}

bool Port::send(const Frame& frame) noexcept {
  return ::send(descriptor(), frame.data, frame.bytes, MSG_DONTWAIT) == static_cast<ssize_t>(frame.bytes);
}

std::uint64_t Port::dropped() noexcept {
  tpacket_stats counts{};
  socklen_t size = sizeof counts;
  if (getsockopt(descriptor(), SOL_PACKET, PACKET_STATISTICS, &counts, &size) != 0) return 0;
  return counts.tp_drops;
}

}  // namespace delay
