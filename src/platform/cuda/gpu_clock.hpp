// Times of a GPU as times of the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace baton::cuda {

/// Both count nanoseconds, from different beginnings, and not quite as fast as each other. It is compared with the host
/// from time to time, and has the speed of the last two comparisons.
class GpuClock {
 public:
  /// The GPU was asked and answered between two looks at the steady clock of the host.
  struct Reading {
    std::int64_t asked;
    std::int64_t answered;
    std::uint64_t gpu;
  };

  [[nodiscard]] static std::int64_t host_now() noexcept;
  /// Of several readings the one that took the shortest counts.
  void compare(std::span<const Reading> readings);
  /// Whether it was compared, a short while ago.
  [[nodiscard]] bool is_fresh(std::int64_t now) const noexcept {
    return newest_.has_value() && now - newest_->host < kFreshNs;
  }
  /// 0 stays 0. After a comparison.
  [[nodiscard]] std::uint64_t host_of(std::uint64_t gpu) const noexcept;
  /// Of the newest comparison: half the time that the answer took.
  [[nodiscard]] std::int64_t error_ns() const noexcept { return error_ns_; }

 private:
  static constexpr std::int64_t kFreshNs = 100'000'000;
  /// Comparisons that are closer than this say nothing of the speed.
  static constexpr std::int64_t kApartNs = 50'000'000;

  struct Anchor {
    std::int64_t host;
    std::uint64_t gpu;
  };
  std::optional<Anchor> newest_;
  double speed_ = 1;  // nanoseconds of the host in one of the GPU
  std::int64_t error_ns_ = 0;
};

}  // namespace baton::cuda
