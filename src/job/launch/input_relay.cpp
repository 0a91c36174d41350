#include "job/launch/input_relay.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "base/fail.hpp"

namespace baton::job {

InputRelay::InputRelay(EventLoop& loop, int input_fd) : loop_(loop), input_fd_(input_fd) {
  if (::isatty(input_fd) == 0) return;
  // A new open file: O_NONBLOCK on the old one would reach the shell.
  terminal_.reset(
      ::open(fmt::format("/proc/self/fd/{}", input_fd).c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  int ends[2];
  if (!terminal_ || ::pipe2(ends, O_CLOEXEC) != 0) return;
  pipe_read_.reset(ends[0]);
  pipe_write_.reset(ends[1]);
  ::fcntl(pipe_write_.get(), F_SETFL, O_NONBLOCK);
}

InputRelay::~InputRelay() { stop(); }

void InputRelay::start() {
  pipe_read_.reset();
  look_again();
}

void InputRelay::look_again() {
  if (!pipe_write_ || loop_.watches(terminal_.get()) || !pending_.empty()) return;
  // Reading from the background would stop baton. Where the terminal does not control this session, anyone may read.
  const pid_t foreground = ::tcgetpgrp(terminal_.get());
  if (foreground >= 0 && foreground != ::getpgrp()) return;
  loop_.add(terminal_.get(), EPOLLIN, [this] { read_terminal(); });
}

void InputRelay::read_terminal() {
  loop_.remove(terminal_.get());
  const pid_t foreground = ::tcgetpgrp(terminal_.get());
  if (foreground >= 0 && foreground != ::getpgrp()) return;
  char line[4096];
  const ssize_t count = ::read(terminal_.get(), line, sizeof line);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
    look_again();
  } else if (count <= 0) {
    stop();  // the end of the input, or the terminal is gone
  } else {
    pending_.assign(line, static_cast<std::size_t>(count));
    write_pipe();
  }
}

void InputRelay::write_pipe() {
  while (!pending_.empty()) {
    const ssize_t count = ::write(pipe_write_.get(), pending_.data(), pending_.size());
    if (count >= 0) {
      pending_.erase(0, static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      if (!loop_.watches(pipe_write_.get())) loop_.add(pipe_write_.get(), EPOLLOUT, [this] { write_pipe(); });
      return;
    } else if (errno != EINTR) {
      stop();  // rank 0 reads no more
      return;
    }
  }
  loop_.remove(pipe_write_.get());
  look_again();
}

void InputRelay::stop() {
  if (!pipe_write_) return;
  loop_.remove(terminal_.get());
  loop_.remove(pipe_write_.get());
  pipe_write_.reset();
  pending_.clear();
}

}  // namespace baton::job
