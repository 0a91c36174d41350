#include "node/near_node.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/backends/shm/descriptor_message.hpp"
#include "comm/backends/shm/unix_address.hpp"
#include "node/near_message.hpp"

namespace baton::node {

std::optional<NearNode> visit_node(const std::string& address, std::uint32_t chip) {
  if (address.empty()) return std::nullopt;
  NearNode node;
  node.socket.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const shm::UnixAddress where(address);
  if (!node.socket || ::connect(node.socket.get(), where.get(), where.length()) != 0) {
    log::debug("chip {} reaches its node by messages: {}", chip, ::strerrordesc_np(errno));
    return std::nullopt;
  }
  const Deadline deadline = Deadline::after(options().join_timeout);
  const NearHello mine{.chip = chip};
  NearHello answer{};
  shm::Attachments with;
  ssize_t length = shm::send_with_descriptor(node.socket.get(), &mine, sizeof mine, -1, nullptr, 0, deadline);
  pollfd ready{node.socket.get(), POLLIN, 0};
  while (length > 0 && ::poll(&ready, 1, deadline.poll_timeout_ms()) <= 0) {
    if (deadline.passed()) fail(Code::join_timeout, "the node does not answer its chip {}", chip);
  }
  if (length > 0) length = shm::receive_with_descriptor(node.socket.get(), &answer, sizeof answer, with);
  if (length <= 0) {
    log::info("chip {} reaches its node by messages, although both are on one host: the node does not want it", chip);
    return std::nullopt;
  }
  if (length != static_cast<ssize_t>(sizeof answer) || answer != mine || !with.descriptor) {
    fail(Code::protocol, "a message of the node to its chip {} makes no sense", chip);
  }
  node.segment = std::move(with.descriptor);
  return node;
}

void tell_control(int socket, comm::World& chip) {
  const NearHello mine{.chip = chip.rank()};
  const int control = chip.backend().control_descriptor();
  if (shm::send_with_descriptor(socket, &mine, sizeof mine, control, nullptr, 0,
                                Deadline::within(chip.wait_timeout())) < 0) {
    fail_system("telling the node how to ring this chip");
  }
}

}  // namespace baton::node
