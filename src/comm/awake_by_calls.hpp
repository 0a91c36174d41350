// How a thread of a rank stays awake for messages of other hosts.
#pragma once

#include <chrono>
#include <utility>

#include "base/function_ref.hpp"
#include "base/parking.hpp"

namespace baton::comm {

/// The awake rungs where each look at a path is a call of the system, which takes ten times as long as a look at
/// memory: a moment, as long as an answer takes; then with room for others, who may be the ranks of other hosts.
class AwakeByCalls {
 public:
  [[nodiscard]] bool stay(FunctionRef<bool()> test) {
    bool holds = false;
    // Each look takes as long as other rungs pause between looks.
    if (!is_shared()) {
      for (int look = 0; !holds && look < kLooksOfAMoment; ++look) holds = test();
    }
    for (int rung = 0; !holds && rung < kRungs; ++rung) holds = yield_among_others(test);
    return holds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kLooksOfAMoment = 64;
  static constexpr int kRungs = 3;
  static constexpr std::chrono::microseconds kLostTurn{200};
  /// A yield that takes longer went to somebody.
  static constexpr std::chrono::microseconds kGivenAway{5};
  /// For so long after that others are taken to want this processor, too: who looks keeps it from those it waits for.
  static constexpr std::chrono::milliseconds kShared{2};

  [[nodiscard]] bool is_shared() {
    if (until_ == Clock::time_point{}) return false;
    if (Clock::now() < until_) return true;
    until_ = {};
    return false;
  }
  [[nodiscard]] bool yield_among_others(FunctionRef<bool()> test) {
    const Clock::time_point begin = Clock::now();
    bool first = true;
    return yield_until(
        [&] {
          if (std::exchange(first, false)) {
            const Clock::time_point now = Clock::now();
            if (now - begin > kGivenAway) until_ = now + kShared;
          }
          return test();
        },
        kLostTurn);
  }

  Clock::time_point until_{};
};

}  // namespace baton::comm
