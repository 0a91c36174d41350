// Noticing a deadlock when it happens: a rank that has slept for a while looks whether anybody can still wake it.
//
// The last rank to fall asleep finds all others asleep, so each rank looks once, some time after its sleep began. Only
// where all ranks wait and a thread of theirs does something beside that, one rank goes on looking. What is found is
// told and nothing is ended: a thread that waits for something outside of Baton may still notify.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/deadline.hpp"
#include "base/thread_states.hpp"
#include "comm/hosts_stillness.hpp"
#include "comm/stillness_look.hpp"
#include "wire/control.hpp"

namespace baton::comm {

/// What a job shows of itself, for look_for_stillness().
class JobSight {
 public:
  explicit JobSight(const wire::ControlHeader& control) noexcept : JobSight(control, 0, control.rank_count) {}
  /// Of `count` ranks alone, from `first` on.
  JobSight(const wire::ControlHeader& control, std::uint32_t first, std::uint32_t count) noexcept
      : control_(control), first_(first), end_(first + count) {}

  /// When each wait of each rank began: two equal ones are of the same waits. Nothing if a rank is in none, or in one
  /// that ends soon by itself: that may be how it goes on.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> waits() const;
  [[nodiscard]] std::optional<std::vector<SleepingThread>> sleepers() const;

 private:
  const wire::ControlHeader& control_;
  std::uint32_t first_;
  std::uint32_t end_;
};

/// What one host of a job shows of its ranks, for look_for_stillness(): also how many messages they have sent to other
/// hosts and dealt with.
class HostRanksSight {
 public:
  HostRanksSight(const wire::ControlHeader& control, std::uint32_t first, std::uint32_t count) noexcept
      : control_(control), first_(first), count_(count) {}

  [[nodiscard]] std::optional<HostStillness> waits() const;
  [[nodiscard]] std::optional<std::vector<SleepingThread>> sleepers() const;

 private:
  const wire::ControlHeader& control_;
  std::uint32_t first_;
  std::uint32_t count_;
};

/// The looks of one wait.
class StillnessWatch {
 public:
  /// A wait that ends soon by itself is not watched, nor is a rank without others.
  StillnessWatch(wire::ControlHeader& control, const Deadline& deadline) noexcept
      : control_(control),
        deadline_(deadline),
        watches_(control.rank_count > 1 && deadline.allowance() > 2 * kFirstLook) {}
  StillnessWatch(const StillnessWatch&) = delete;
  StillnessWatch& operator=(const StillnessWatch&) = delete;
  ~StillnessWatch() { give_up(); }

  /// Until when to sleep: the deadline of the wait, or the next look.
  [[nodiscard]] Deadline next() const noexcept;
  /// The wait is about to sleep for the first time.
  void begin() noexcept;
  /// When next() has passed, and the deadline has not. True if all ranks slept in the same waits at the last look, too,
  /// and nobody has told so. In between, other fibers of the calling thread, which no look can see, have had their
  /// turn.
  [[nodiscard]] bool look();

 private:
  using Clock = Deadline::Clock;
  /// After the sleep began. With the looks that follow below the second within which a deadlock is told.
  static constexpr std::chrono::milliseconds kFirstLook{300};

  [[nodiscard]] bool is_elected();
  void give_up() noexcept;

  wire::ControlHeader& control_;
  const Deadline& deadline_;
  bool watches_;
  Clock::time_point when_{};  // of the next look; the epoch before the sleep
  std::int64_t elected_ = 0;  // what this one has put into ControlHeader::looker; 0: nothing
  int tries_ = 0;
  int looks_ = 0;
  std::vector<std::int64_t> last_;  // the waits in which all slept
};

}  // namespace baton::comm
