// Waits that no thread of a rank makes: of tasks whose kernels have returned, for signals that are to come.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/deadline.hpp"
#include "comm/stillness.hpp"
#include "comm/wait_record.hpp"
#include "comm/world.hpp"

namespace baton::comm {

struct StandingWait {
  WaitDescription what;
  const WaitingDomain* domain;  // read by show() alone
};

/// Where others see them, like those of threads; a deadlock that they are part of is told, too. One thread.
class StandingWaits {
 public:
  explicit StandingWaits(World& world) : world_(world) {}

  /// In place of those that were shown before.
  void show(std::span<const StandingWait> waits);

  /// When to look whether anybody can still end them.
  [[nodiscard]] Deadline::Clock::time_point next_look() const;
  /// Not before next_look().
  void look();

 private:
  World& world_;
  Deadline deadline_ = Deadline::never();
  std::deque<WaitEntry> entries_;
  std::optional<StillnessWatch> watch_;
};

}  // namespace baton::comm
