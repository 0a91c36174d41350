// For how long frames were on their way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "clock.hpp"

namespace delay {

class Report {
 public:
  explicit Report(Nanoseconds asked) : asked_(asked), counts_(static_cast<std::size_t>(asked / kStep) + kStepsBeyond) {}

  void note(Nanoseconds took) {
    const auto step = static_cast<std::size_t>(std::max<Nanoseconds>(took, 0) / kStep);
    ++counts_[std::min(step, counts_.size() - 1)];
    ++frames_;
    longest_ = std::max(longest_, took);
  }
  void note_dropped(std::uint64_t frames) { dropped_ += frames; }

  void print(std::FILE* to) const {
    if (frames_ == 0) {
      std::fprintf(to, "hosts_delay: nothing was sent\n");
    } else {
      std::fprintf(
          to, "hosts_delay: %llu frames, %lld us asked for: median %lld us, 99 %% within %lld us, longest %lld us\n",
          static_cast<unsigned long long>(frames_), in_us(asked_), within(0.5), within(0.99), in_us(longest_));
    }
    if (dropped_ != 0)
      std::fprintf(to, "hosts_delay: %llu frames were dropped: there was no room for them\n",
                   static_cast<unsigned long long>(dropped_));
  }

 private:
  static constexpr Nanoseconds kStep = 1000;
  static constexpr std::size_t kStepsBeyond = 1'000'000;
  static long long in_us(Nanoseconds time) noexcept { return time / kStep; }
  [[nodiscard]] long long within(double share) const noexcept {
    auto left = static_cast<std::int64_t>(share * static_cast<double>(frames_));
    std::size_t step = 0;
    while (step + 1 < counts_.size() && (left -= static_cast<std::int64_t>(counts_[step])) >= 0) ++step;
    return static_cast<long long>(step);
  }

  Nanoseconds asked_;
  std::vector<std::uint32_t> counts_;  // by microsecond; what took longer is in the last
  std::uint64_t frames_ = 0;
  std::uint64_t dropped_ = 0;
  Nanoseconds longest_ = 0;
};

}  // namespace delay
