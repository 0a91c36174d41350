// A port of the switch of a lab that this program serves in place of the bridge.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "clock.hpp"
#include "frame.hpp"

namespace delay {

/// While it lives the port is not one of the bridge. For a process in the namespace of the switch.
class Port {
 public:
  /// What comes in here is on its way for `delay`; without one it goes on at once.
  Port(std::string name, std::optional<Nanoseconds> delay);
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  ~Port();

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] bool delays() const noexcept { return delay_.has_value(); }

  /// Takes what has come in, as far as there is room. The rest waits in the kernel, which knows since when.
  void take(FrameRoom& room);
  /// What came in and has not been sent on, the oldest first.
  [[nodiscard]] std::deque<Frame>& waiting() noexcept { return waiting_; }
  /// Sends a frame out. False: the kernel did not take it.
  [[nodiscard]] bool send(const Frame& frame) noexcept;
  /// How many frames the kernel had no room for since the last call.
  [[nodiscard]] std::uint64_t dropped() noexcept;

 private:
  std::string name_;
  std::optional<Nanoseconds> delay_;
  baton::UniqueFd socket_;
  std::deque<Frame> waiting_;
};

}  // namespace delay
