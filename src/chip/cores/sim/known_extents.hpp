// The memory that a kernel has used in this call.
#pragma once

#include <algorithm>
#include <array>

#include "chip/cores/global_memory.hpp"

namespace baton::chip {

/// A kernel reaches few buffers, many times. Finding one takes locks, which wait until all that the kernel stored
/// before has left the core. What a running kernel uses is not freed, so it may be remembered until the call ends.
class KnownExtents {
 public:
  void clear() noexcept { count_ = 0; }

  [[nodiscard]] bool hold(const void* begin, std::size_t bytes) const noexcept {
    const auto last = extents_.begin() + std::min(count_, kMost);
    return std::any_of(extents_.begin(), last, [&](const Extent& one) { return one.holds(begin, bytes); });
  }

  /// In place of the oldest one, where there are too many.
  void add(const Extent& extent) noexcept { extents_[static_cast<std::size_t>(count_++ % kMost)] = extent; }

 private:
  static constexpr std::ptrdiff_t kMost = 8;
  std::array<Extent, kMost> extents_;
  std::ptrdiff_t count_ = 0;
};

}  // namespace baton::chip
