#include "job/launch/event_loop.hpp"

#include <sys/epoll.h>

#include <array>

#include "base/fail.hpp"

namespace baton::job {

EventLoop::EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) fail_system("epoll_create1");
}

void EventLoop::add(int fd, std::uint32_t events, Handler handler) {
  const std::uint32_t generation = ++generations_;
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(fd);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) fail_system("watching a descriptor with epoll");
  entries_.insert_or_assign(fd, Entry{generation, std::move(handler)});
}

void EventLoop::remove(int fd) {
  if (entries_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::wait(Deadline deadline) {
  std::array<epoll_event, 64> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), deadline.poll_timeout_ms());
  if (count < 0 && errno != EINTR) fail_system("epoll_wait");
  for (int i = 0; i < count; ++i) {
    const std::uint64_t key = events[static_cast<std::size_t>(i)].data.u64;
    const auto found = entries_.find(static_cast<int>(static_cast<std::uint32_t>(key)));
    if (found == entries_.end() || found->second.generation != key >> 32) continue;
    const Handler handler = found->second.handler;  // a copy: it may remove itself
    handler();
  }
}

}  // namespace baton::job
