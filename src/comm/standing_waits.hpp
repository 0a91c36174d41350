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
  StandingWaits(const StandingWaits&) = delete;
  StandingWaits& operator=(const StandingWaits&) = delete;
  ~StandingWaits() { count_others(0); }

  /// In place of those that were shown before. `others`, which have to be patient, are counted alone.
  void show(std::span<const StandingWait> waits, std::size_t others = 0);

  /// When to look whether anybody can still end them.
  [[nodiscard]] Deadline::Clock::time_point next_look() const;
  /// Not before next_look().
  void look();

 private:
  void count_others(std::size_t count) noexcept;

  World& world_;
  std::size_t others_ = 0;
  Deadline deadline_ = Deadline::never();
  std::deque<WaitEntry> entries_;
  std::optional<StillnessWatch> watch_;
};

}  // namespace baton::comm
