#include "job/hosts/timer.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <ctime>

#include "base/fail.hpp"

namespace baton::job {

Timer::Timer(EventLoop& loop, std::function<void()> handler)
    : loop_(loop), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!timer_) fail_system("timerfd_create");
  loop_.add(timer_.get(), EPOLLIN, [fd = timer_.get(), handler = std::move(handler)] {
    std::uint64_t expirations = 0;
    if (::read(fd, &expirations, sizeof expirations) == static_cast<ssize_t>(sizeof expirations)) handler();
  });
}

Timer::~Timer() { loop_.remove(timer_.get()); }

void Timer::set(std::chrono::nanoseconds period, Mode mode) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
  const timespec span{.tv_sec = seconds.count(), .tv_nsec = (period - seconds).count()};
  const itimerspec when{.it_interval = mode == Mode::once ? timespec{} : span, .it_value = span};
  if (::timerfd_settime(timer_.get(), 0, &when, nullptr) != 0) fail_system("timerfd_settime");
}

}  // namespace baton::job
