#include "job/hosts/root_seeker.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "base/fail.hpp"

namespace baton::job {
namespace {

// One address that swallows what is sent to it must not use up the time of the others.
constexpr std::chrono::seconds kAttemptPatience{3};
// Before what refused is asked again: short beside what a launcher needs to start a process.
constexpr std::chrono::milliseconds kPause{50};

}  // namespace

RootSeeker::RootSeeker(EventLoop& loop, const JobToken& token, const std::vector<std::string>& roots,
                       std::vector<std::uint16_t> ports, Found found)
    : loop_(loop),
      token_(token),
      ports_(std::move(ports)),
      found_(std::move(found)),
      attempt_(loop, [this] { give_up("does not answer"); }),
      pause_(loop, [this] { begin_round(); }) {
  for (const std::string& root : roots) roots_[root];
  // Not from here: what is found may destroy this object.
  pause_.set(std::chrono::nanoseconds(1), Timer::Mode::once);
}

RootSeeker::~RootSeeker() { stop_watching(); }

void RootSeeker::begin_round() {
  last_troubles_ = std::exchange(troubles_, {});
  places_.clear();
  for (auto& [root, addresses] : roots_) {
    try {
      if (addresses.empty()) addresses = addresses_of(root);
      for (const std::string& address : addresses) {
        for (const std::uint16_t port : ports_) places_.push_back({address, port});
      }
    } catch (const Error& error) {
      troubles_.push_back(error.message());
    }
  }
  try_next();
}

void RootSeeker::try_next() {
  if (places_.empty()) {
    pause_.set(kPause, Timer::Mode::once);
    return;
  }
  attempt_.set(kAttemptPatience, Timer::Mode::once);
  try {
    socket_ = begin_to_connect(places_.front().address, places_.front().port);
  } catch (const Error& error) {
    give_up(error.message());
    return;
  }
  loop_.add(socket_.get(), EPOLLOUT, [this] { on_connected(); });
}

void RootSeeker::on_connected() {
  loop_.remove(socket_.get());
  if (const int error_number = connection_error(socket_.get()); error_number != 0) {
    give_up(::strerrordesc_np(error_number));
    return;
  }
  expect_answers(socket_.get());
  channel_ = make_tls_channel(std::move(socket_), token_, TlsRole::agent);
  shake_hands();
}

void RootSeeker::shake_hands() {
  const Transfer transfer = channel_->handshake();
  switch (transfer.status) {
    case TransferStatus::would_block: watch(); break;
    case TransferStatus::closed: give_up("it " + channel_->why_closed()); break;
    case TransferStatus::done: {
      loop_.remove(channel_->fd());
      attempt_.set(std::chrono::nanoseconds(0), Timer::Mode::once);
      const Found found = found_;  // a copy: it goes with this object
      found(std::move(channel_));
    }
  }
}

void RootSeeker::watch() {
  loop_.remove(channel_->fd());
  loop_.add(channel_->fd(), channel_->wants_write() ? EPOLLOUT : EPOLLIN, [this] { shake_hands(); });
}

void RootSeeker::give_up(const std::string& why) {
  stop_watching();
  troubles_.push_back(fmt::format("{} port {}: {}", places_.front().address, places_.front().port, why));
  places_.pop_front();
  try_next();
}

void RootSeeker::stop_watching() {
  if (socket_) loop_.remove(socket_.get());
  if (channel_) loop_.remove(channel_->fd());
  socket_.reset();
  channel_.reset();
}

}  // namespace baton::job
