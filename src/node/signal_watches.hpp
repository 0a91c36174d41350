// Signals that a chip watches for its node, beside its tasks.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include <baton/chip_window.hpp>
#include <baton/domain.hpp>

#include "base/deadline.hpp"
#include "comm/standing_waits.hpp"

namespace baton::node {

/// The windows of a domain that this chip is a member of.
struct OpenDomain {
  Domain domain;
  ChipWindow window;
};

/// Waits for notifications: each ends when its signal is there, when nobody is left to send it, or when its time is up.
/// One thread or fiber adds and takes; any may forget.
class SignalWatches {
 public:
  struct Watch {
    std::uint64_t task = 0;    // of the node
    std::uint64_t tasks = 0;   // whose task it is, for `baton check`
    std::uint64_t domain = 0;  // its number
    OpenDomain open;
    std::size_t offset = 0;  // of the signal, in this chip's window
    std::int32_t expected = 0;
    Deadline deadline = Deadline::never();
    std::chrono::nanoseconds timeout{0};
    std::uint32_t changes = 0;  // ranks that had ended when it was looked at last
    Deadline::Clock::time_point since = Deadline::Clock::now();
    bool shown = false;
  };
  explicit SignalWatches(comm::World& chip) : standing_(chip) {}

  void add(Watch watch);
  /// Nobody wants to know of those in this domain any more.
  void forget(std::uint64_t domain);

  /// Whether take_ended() has something to do. A test for wait_until(): a rank that notifies, or ends, rings this chip.
  [[nodiscard]] bool due() const;
  /// When there is something to do because time has passed.
  [[nodiscard]] Deadline next_deadline() const;

  struct Ended {
    std::uint64_t task;
    std::exception_ptr cause;  // null: the signal is there
  };
  /// Shows to others those that last.
  [[nodiscard]] std::vector<Ended> take_ended();

 private:
  void show_long_ones();

  mutable std::mutex mutex_;
  std::vector<Watch> watches_;  // guarded by mutex_
  bool must_show_ = false;      // others than those that are shown; guarded by mutex_
  comm::StandingWaits standing_;
};

}  // namespace baton::node
