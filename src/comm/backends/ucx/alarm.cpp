#include "comm/backends/ucx/alarm.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/fail.hpp"

namespace baton::ucx {
namespace {

epoll_event event_of(std::uint32_t events, int fd) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return event;
}

void watch(int epoll, epoll_event event) {
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0) fail_system("epoll_ctl");
}

}  // namespace

Alarm::Alarm(int event_fd)
    : poke_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), both_(::epoll_create1(EPOLL_CLOEXEC)), event_fd_(event_fd) {
  if (!poke_) fail_system("eventfd");
  if (!both_) fail_system("epoll_create1");
  watch(both_.get(), event_of(EPOLLIN, poke_.get()));
  watch(both_.get(), event_of(0, event_fd_));
}

void Alarm::listen_for(std::uint32_t events) noexcept {
  epoll_event event = event_of(events, event_fd_);
  // It was added, and stays open: there is nothing that could fail.
  static_cast<void>(::epoll_ctl(both_.get(), EPOLL_CTL_MOD, event_fd_, &event));
}

void Alarm::arm() noexcept { listen_for(EPOLLIN | EPOLLONESHOT); }

void Alarm::disarm() noexcept { listen_for(0); }

void Alarm::poke() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(poke_.get(), &one, sizeof one));
}

Alarm::Cause Alarm::wait(std::chrono::milliseconds at_most) {
  std::array<epoll_event, 2> events{};
  const int count =
      ::epoll_wait(both_.get(), events.data(), static_cast<int>(events.size()), static_cast<int>(at_most.count()));
  if (count < 0 && errno != EINTR) fail_system("epoll_wait");
  Cause cause = Cause::time_passed;
  for (int i = 0; i < count; ++i) {
    if (events[static_cast<std::size_t>(i)].data.fd == event_fd_) {
      cause = Cause::went_off;
      continue;
    }
    std::uint64_t pokes = 0;
    static_cast<void>(::read(poke_.get(), &pokes, sizeof pokes));
    if (cause == Cause::time_passed) cause = Cause::poked;
  }
  return cause;
}

}  // namespace baton::ucx
