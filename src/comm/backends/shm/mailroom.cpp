#include "comm/backends/shm/mailroom.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "comm/memfd.hpp"

namespace baton::shm {

std::string mail_address(const comm::JobToken& token, std::uint32_t rank) {
  return fmt::format("baton/{:02x}/{}", fmt::join(token, ""), rank);
}

Mailroom::Mailroom(const comm::JobToken& token, std::uint32_t rank)
    : token_(token), socket_(mail_address(token, rank)) {}

void Mailroom::send(std::uint32_t to, const wire::Mail& mail, int descriptor, Deadline deadline) {
  // The time limit of a send is a property of the socket.
  const std::lock_guard lock(sending_);
  socket_.send(mail_address(token_, to), mail, descriptor, deadline);
}

bool Mailroom::sort() {
  const std::lock_guard lock(mutex_);
  bool somebody_left = false;
  while (auto received = socket_.receive()) {
    switch (received->mail.kind) {
      case wire::MailKind::segment:
        parcels_[received->mail.key] = {std::move(received->descriptor), received->mail.bytes};
        continue;
      case wire::MailKind::left: somebody_left = true; continue;
      case wire::MailKind::control: break;
    }
    log::warn("a message of the unknown kind {} was dropped", static_cast<std::uint32_t>(received->mail.kind));
  }
  return somebody_left;
}

std::shared_ptr<comm::SharedMemory> Mailroom::collect(wire::AllocationKey key) {
  Parcel parcel{};
  {
    const std::lock_guard lock(mutex_);
    const auto found = parcels_.find(key);
    if (found == parcels_.end()) return nullptr;
    parcel = std::move(found->second);
    parcels_.erase(found);
  }
  return comm::map_memfd(parcel.descriptor, parcel.bytes);
}

}  // namespace baton::shm
