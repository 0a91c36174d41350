// Waits that look around now and then: whether what they wait for can still come.
#pragma once

#include <algorithm>
#include <chrono>

#include <baton/error.hpp>
#include <baton/options.hpp>

namespace baton::collectives {

/// 0 stands for Options::wait_timeout.
[[nodiscard]] inline std::chrono::nanoseconds timeout_or_default(std::chrono::nanoseconds timeout) {
  return timeout.count() > 0 ? timeout : options().wait_timeout;
}

/// Calls `reach(time)` until it is true, with times that double, and in between `look()`, which throws if nothing will
/// come. False when `timeout` has passed.
template <class Reach, class Look>
[[nodiscard]] bool reach_or_look(std::chrono::nanoseconds timeout, const Reach& reach, const Look& look) {
  constexpr std::chrono::nanoseconds kFirstLook = std::chrono::milliseconds(100);
  std::chrono::nanoseconds left = timeout;
  for (std::chrono::nanoseconds time = kFirstLook; left.count() > 0; time *= 2) {
    const std::chrono::nanoseconds now = std::min(time, left);
    try {
      if (reach(now)) return true;
    } catch (const Error& error) {
      // One that has left or ended may have done so because it noticed a disagreement.
      if (error.code() == Code::peer_left || error.code() == Code::peer_died) look();
      throw;
    }
    look();
    left -= now;
  }
  return false;
}

}  // namespace baton::collectives
