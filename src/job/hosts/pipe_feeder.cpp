#include "job/hosts/pipe_feeder.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "base/fail.hpp"
#include "job/launch/pipe_ends.hpp"

namespace baton::job {

PipeFeeder::PipeFeeder(EventLoop& loop, std::function<void(std::size_t)> passed_on)
    : loop_(loop), passed_on_(std::move(passed_on)) {
  PipeEnds ends = make_pipe();
  reader_ = std::move(ends.read);
  writer_ = std::move(ends.write);
  ::fcntl(writer_.get(), F_SETFL, O_NONBLOCK);
}

PipeFeeder::~PipeFeeder() { close(); }

void PipeFeeder::close() noexcept {
  if (!writer_) return;
  loop_.remove(writer_.get());
  writer_.reset();
}

void PipeFeeder::add(std::string_view bytes) {
  if (!writer_ || ended_) return;  // the reader is gone: nobody wants it
  if (pending_.size() + bytes.size() > kStreamRoom) {
    fail(Code::protocol, "{} bytes came, but there is room for {}", bytes.size(), kStreamRoom - pending_.size());
  }
  pending_.append(bytes);
  write();
}

void PipeFeeder::end() {
  ended_ = true;
  write();
}

void PipeFeeder::write() {
  std::size_t passed = 0;
  while (writer_ && !pending_.empty()) {
    const ssize_t count = ::write(writer_.get(), pending_.data(), pending_.size());
    if (count >= 0) {
      pending_.erase(0, static_cast<std::size_t>(count));
      passed += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (!loop_.watches(writer_.get())) loop_.add(writer_.get(), EPOLLOUT, [this] { write(); });
      break;
    } else if (errno != EINTR) {
      passed += pending_.size();
      pending_.clear();
      close();
    }
  }
  if (pending_.empty()) {
    if (writer_) loop_.remove(writer_.get());
    if (ended_) close();
  }
  if (passed > 0) passed_on_(passed);
}

}  // namespace baton::job
