#include "node/near_chips.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/service_thread.hpp"
#include "comm/backends/shm/descriptor_message.hpp"
#include "comm/backends/shm/unix_address.hpp"
#include "comm/health.hpp"
#include "job/launch/random_name.hpp"
#include "node/give_buffer.hpp"
#include "node/near_message.hpp"

namespace baton::node {
namespace {

/// Connections that have not said which chip they are; with more, the oldest is closed.
constexpr std::size_t kMostStrangers = 64;

}  // namespace

NearChips::NearChips(std::size_t chips, const UniqueFd& segment, std::function<void()> on_news)
    : chips_(chips),
      on_news_(std::move(on_news)),
      address_("baton-node-" + job::random_name()),
      socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      segment_(segment) {
  for (std::size_t i = 0; i < chips_; ++i) seats_.emplace_back();
  const shm::UnixAddress where(address_);
  if (!wake_ || !socket_ || ::bind(socket_.get(), where.get(), where.length()) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0) {
    fail_system("listening for chips");
  }
  thread_ = start_service_thread("baton-near", [this] { listen(); });
}

NearChips::~NearChips() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
  thread_.join();
}

// Pairs with the store in seat(), before which its socket was written.
bool NearChips::has(std::size_t chip) const noexcept { return seats_[chip].has_come.load(std::memory_order_acquire); }

// Pairs with the store in take_control(), before which the control segment was written.
bool NearChips::can_ring(std::size_t chip) const noexcept {
  return seats_[chip].can_ring.load(std::memory_order_seq_cst);
}

void NearChips::ring(std::size_t chip) noexcept {
  if (can_ring(chip)) wire::doorbell_of(control_.header(), chip).ring(FutexScope::shared);
}

void NearChips::end_waits() noexcept {
  for (std::size_t chip = 0; chip < chips_; ++chip) {
    if (!can_ring(chip)) continue;
    for (std::size_t i = 0; i < chips_; ++i) {
      comm::mark_dead(control_.header(), static_cast<std::uint32_t>(i), wire::EndKind::error, 0);
    }
    return;
  }
}

void NearChips::give(std::size_t chip, const SharedBuffer& buffer) { give_buffer(seats_[chip].socket, buffer); }

void NearChips::listen() {
  while (true) {
    std::vector<pollfd> entries = {{wake_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
    std::vector<Seat*> joining;
    for (Seat& seat : seats_) {
      if (!seat.socket || seat.can_ring.load(std::memory_order_relaxed)) continue;
      entries.push_back({seat.socket.get(), POLLIN, 0});
      joining.push_back(&seat);
    }
    const std::size_t first_stranger = entries.size();
    for (const UniqueFd& stranger : strangers_) entries.push_back({stranger.get(), POLLIN, 0});
    if (::poll(entries.data(), entries.size(), -1) < 0) continue;
    if (entries[0].revents != 0) return;
    for (std::size_t i = 0; i < joining.size(); ++i) {
      if (entries[2 + i].revents != 0) take_control(*joining[i]);
    }
    std::size_t entry = first_stranger;
    for (auto stranger = strangers_.begin(); stranger != strangers_.end(); ++entry) {
      const auto one = stranger++;
      if (entries[entry].revents == 0) continue;
      seat(std::move(*one));
      strangers_.erase(one);
    }
    if (entries[1].revents != 0) accept();
  }
}

void NearChips::accept() {
  UniqueFd stranger(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  // Without a descriptor for it somebody has to make room.
  if (strangers_.size() >= kMostStrangers || (!stranger && !strangers_.empty())) strangers_.pop_front();
  if (!stranger) return;
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(stranger.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != ::geteuid()) {
    log::warn("a process of user {} wanted the memory of a node", peer.uid);
    return;
  }
  strangers_.push_back(std::move(stranger));
}

void NearChips::seat(UniqueFd stranger) {
  NearHello hello{};
  shm::Attachments with;
  const ssize_t length = shm::receive_with_descriptor(stranger.get(), &hello, sizeof hello, with);
  if (length != static_cast<ssize_t>(sizeof hello) || hello != NearHello{.chip = hello.chip} || hello.chip >= chips_ ||
      seats_[hello.chip].socket) {
    if (length != 0) log::warn("what a process said that wanted to be a chip of this node makes no sense");
    return;
  }
  Seat& mine = seats_[hello.chip];
  // Its chip takes what comes at once, unless it is stopped.
  limit_giving(stranger);
  mine.socket = std::move(stranger);
  // Before the answer: a chip that has it goes on to meet the node. Pairs with the load in has().
  mine.has_come.store(true, std::memory_order_release);
  static_cast<void>(shm::send_with_descriptor(mine.socket.get(), &hello, sizeof hello, segment_.get(), nullptr, 0,
                                              Deadline::within(options().wait_timeout)));
}

void NearChips::take_control(Seat& seat) {
  NearHello hello{};
  shm::Attachments with;
  const ssize_t length = shm::receive_with_descriptor(seat.socket.get(), &hello, sizeof hello, with);
  if (length < 0) return;
  try {
    // One that ends before is told by its agent.
    if (length != 0 && !control_.memory) {
      control_ = comm::adopt_control(std::move(with.descriptor), static_cast<std::uint32_t>(chips_) + 1);
    }
  } catch (const Error& error) {
    log::warn("a chip sent what is no control segment: {}", error.message());
  }
  if (length == 0 || !control_.memory) {
    ::shutdown(seat.socket.get(), SHUT_RDWR);
    seat.socket.reset();
    return;
  }
  // Pairs with the load in can_ring().
  seat.can_ring.store(true, std::memory_order_seq_cst);
  on_news_();
}

}  // namespace baton::node
