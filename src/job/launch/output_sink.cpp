#include "job/launch/output_sink.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/fail.hpp"

namespace baton::job {

OutputSink::OutputSink(int fd) : terminal_(::isatty(fd) == 1) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail_system(fmt::format("looking at descriptor {} to write to", fd));
  const bool may_block = terminal_ || S_ISFIFO(status.st_mode);
  if (may_block) {
    // O_NONBLOCK belongs to the open file, which the shell and other programs share: a new open file gets it.
    fd_.reset(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (fd_) return;
    if (errno == ENXIO) error_ = EPIPE;
    method_ = Method::write_when_ready;
  } else if (S_ISSOCK(status.st_mode)) {
    method_ = Method::send;
  }
  fd_.reset(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!fd_) fail_system(fmt::format("duplicating descriptor {}", fd));
}

bool OutputSink::same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  if (::fstat(a, &first) != 0 || ::fstat(b, &second) != 0) return false;
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

void OutputSink::append(std::string_view bytes) {
  if (error_ == 0) queue_.append(bytes);
}

void OutputSink::discard() noexcept {
  queue_.clear();
  written_ = 0;
}

long OutputSink::write_some(std::string_view bytes) const {
  switch (method_) {
    case Method::write: return ::write(fd_.get(), bytes.data(), bytes.size());
    case Method::send: return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Method::write_when_ready: {
      pollfd ready{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
      if (::poll(&ready, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
      }
      // So much fits into whatever is ready for writing.
      return ::write(fd_.get(), bytes.data(), bytes.size() < PIPE_BUF ? bytes.size() : PIPE_BUF);
    }
  }
  return -1;
}

void OutputSink::flush() {
  while (error_ == 0 && written_ < queue_.size()) {
    const long count = write_some(std::string_view(queue_).substr(written_));
    if (count >= 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  if (error_ != 0 || written_ == queue_.size()) {
    discard();
  } else if (written_ > queue_.size() / 2) {
    queue_.erase(0, written_);
    written_ = 0;
  }
}

}  // namespace baton::job
