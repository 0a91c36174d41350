// When a wait gives up.
#pragma once

#include <chrono>
#include <ctime>

namespace baton {

/// A point on the monotonic clock. Every wait takes one. Belongs to one thread.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// `timeout` from now.
  [[nodiscard]] static Deadline after(std::chrono::nanoseconds timeout) noexcept {
    const Deadline deadline(timeout);
    static_cast<void>(deadline.when());
    return deadline;
  }

  /// `timeout` from the first time anybody asks. Reading the clock costs as much as handing over a cache line, so a
  /// wait that may be over at once does not begin with it.
  [[nodiscard]] static Deadline within(std::chrono::nanoseconds timeout) noexcept { return Deadline(timeout); }

  [[nodiscard]] static Deadline at(Clock::time_point when) noexcept {
    Deadline deadline(std::chrono::nanoseconds(0));
    deadline.when_ = when;
    return deadline;
  }

  /// For a waiter that has nothing to do until it is called, and is called at the end, too.
  [[nodiscard]] static Deadline never() noexcept { return at(Clock::time_point::max()); }

  [[nodiscard]] Clock::time_point when() const noexcept {
    if (when_ == kNotYet) {
      const auto now = Clock::now();
      when_ = timeout_ > Clock::time_point::max() - now ? Clock::time_point::max() : now + timeout_;
    }
    return when_;
  }
  [[nodiscard]] bool passed() const noexcept { return when() <= Clock::now(); }

  /// Time left, or all of it if nobody has asked yet: does not read the clock then.
  [[nodiscard]] std::chrono::nanoseconds allowance() const noexcept { return when_ == kNotYet ? timeout_ : left(); }

  /// Time left, never negative.
  [[nodiscard]] std::chrono::nanoseconds left() const noexcept {
    const auto end = when();
    const auto now = Clock::now();
    return now >= end ? std::chrono::nanoseconds(0) : end - now;
  }

  /// Time left in whole milliseconds, rounded up, for poll() and epoll_wait().
  [[nodiscard]] int poll_timeout_ms() const noexcept {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left()).count();
    return ms > 1'000'000 ? 1'000'000 : static_cast<int>(ms);
  }

 private:
  static constexpr Clock::time_point kNotYet = Clock::time_point::min();
  explicit Deadline(std::chrono::nanoseconds timeout) noexcept : timeout_(timeout) {}
  std::chrono::nanoseconds timeout_;
  mutable Clock::time_point when_ = kNotYet;
};

}  // namespace baton
