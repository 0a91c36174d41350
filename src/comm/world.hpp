// One rank's membership in a job: the control segment, the backend, and what both are needed for all the time.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/parking.hpp"
#include "base/recorder.hpp"
#include "comm/backend.hpp"
#include "wire/control.hpp"

namespace baton::comm {

/// Shared by the domains and windows of one rank; the last of them ends the membership.
class World {
 public:
  World(std::unique_ptr<Backend> backend, std::uint32_t rank, std::string name, std::chrono::nanoseconds wait_timeout);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  /// During the unwinding of an exception the rank counts as failed, else as having left.
  ~World();

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return control_.rank_count; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] wire::ControlHeader& control() noexcept { return control_; }
  [[nodiscard]] Backend& backend() noexcept { return *backend_; }
  /// To the ranks of other hosts; null where there are none.
  [[nodiscard]] Path* path() const noexcept { return path_; }
  [[nodiscard]] std::chrono::nanoseconds wait_timeout() const noexcept { return wait_timeout_; }

  [[nodiscard]] wire::RankBlock& block(std::uint32_t rank) noexcept { return wire::rank_block(control_, rank); }
  [[nodiscard]] const ParkingPlace& parking_place() const noexcept { return place_; }

  /// After a sequentially consistent change of something that `rank` may wait for.
  void ring(std::uint32_t rank) noexcept { wire::doorbell_of(control_, rank).ring(place_.scope); }

  /// Notes what this rank does, for the reports of others.
  void note(wire::Operation operation) noexcept {
    block(rank_).activity.store(static_cast<std::uint32_t>(operation), std::memory_order_relaxed);
  }

  /// An event of this rank, from `begin` (ticks) to now, to be filled and recorded.
  [[nodiscard]] EventRecord event_since(EventKind kind, std::uint64_t begin) const noexcept {
    return {.begin = begin, .end = ticks(), .kind = kind, .rank = rank_};
  }

  /// 0, 1, 2 ... for successive subsets of the same members and name, which `kind` stands for.
  [[nodiscard]] std::uint64_t next_sequence(std::uint64_t kind);

  /// Ends the membership early; the destructor then does nothing more.
  void leave(Farewell farewell, const FailureReason& reason = {}) noexcept;

 private:
  std::unique_ptr<Backend> backend_;
  wire::ControlHeader& control_;
  Path* path_;
  std::uint32_t rank_;
  std::string name_;
  std::chrono::nanoseconds wait_timeout_;
  ParkingPlace place_;
  int exceptions_at_join_;
  std::once_flag left_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> sequences_;
};

}  // namespace baton::comm
