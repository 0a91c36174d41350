#include "job/hosts/stream_sender.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "job/hosts/pipe_feeder.hpp"

namespace baton::job {
namespace {

bool epoll_knows(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || ::isatty(fd) == 1;
}

/// Without touching flags that others share: whether read() returns at once.
bool has_bytes(int fd) {
  pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) > 0;
}

}  // namespace

StreamSender::StreamSender(EventLoop& loop, UniqueFd from, Send send, End end)
    : loop_(loop),
      from_(std::move(from)),
      send_(std::move(send)),
      end_(std::move(end)),
      room_(kStreamRoom),
      always_readable_(!epoll_knows(from_.get())) {
  if (always_readable_) {
    go_on();
  } else {
    loop_.add(from_.get(), EPOLLIN, [this] { go_on(); });
  }
}

StreamSender::~StreamSender() {
  if (from_) loop_.remove(from_.get());
}

void StreamSender::add_room(std::uint64_t bytes) {
  room_ = std::min<std::uint64_t>(room_ + bytes, kStreamRoom);
  if (!from_) return;
  if (always_readable_ || draining_) {
    go_on();
  } else if (room_ > 0 && !loop_.watches(from_.get())) {
    loop_.add(from_.get(), EPOLLIN, [this] { go_on(); });
  }
}

void StreamSender::drain() {
  if (!from_ || draining_) return;
  draining_ = true;
  loop_.remove(from_.get());
  // What a pipe holds now is at most its capacity; a process that still writes into it is not part of the job.
  const int capacity = ::fcntl(from_.get(), F_GETPIPE_SZ);
  left_to_drain_ = capacity > 0 ? static_cast<std::size_t>(capacity) : kStreamRoom;
  go_on();
}

void StreamSender::finish() {
  loop_.remove(from_.get());
  from_.reset();
  end_();
}

void StreamSender::go_on() {
  std::array<char, std::size_t{16} * 1024> bytes;
  const bool to_the_end = always_readable_ || draining_;
  while (from_ && room_ > 0) {
    std::size_t wanted = std::min<std::size_t>(bytes.size(), room_);
    if (draining_) wanted = std::min(wanted, left_to_drain_);
    if (wanted == 0 || (draining_ && !has_bytes(from_.get()))) {
      finish();
      return;
    }
    const ssize_t count = ::read(from_.get(), bytes.data(), wanted);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      finish();
      return;
    }
    const auto got = static_cast<std::size_t>(count);
    room_ -= got;
    if (draining_) left_to_drain_ -= got;
    send_({bytes.data(), got});
    if (!to_the_end) break;  // others want to be heard, too
  }
  if (from_ && room_ == 0) loop_.remove(from_.get());
}

}  // namespace baton::job
