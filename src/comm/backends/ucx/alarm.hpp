// What wakes the thread of a path.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/unique_fd.hpp"

namespace baton::ucx {

/// Goes off once when something has come, and not again before it is armed: a thread that leaves messages to others is
/// not woken by each of them.
class Alarm {
 public:
  enum class Cause : std::uint8_t { went_off, poked, time_passed };

  /// Not armed. `event_fd` is readable when something has come.
  explicit Alarm(int event_fd);

  /// At once if something is there already. Any thread, also while another one waits.
  void arm() noexcept;
  /// Does not go off for what comes from now on. Any thread.
  void disarm() noexcept;
  /// Wakes the thread that waits, or is about to. Any thread.
  void poke() noexcept;
  /// For one thread.
  [[nodiscard]] Cause wait(std::chrono::milliseconds at_most);

 private:
  void listen_for(std::uint32_t events) noexcept;

  UniqueFd poke_;
  UniqueFd both_;  // an epoll of that and the other
  int event_fd_;
};

}  // namespace baton::ucx
