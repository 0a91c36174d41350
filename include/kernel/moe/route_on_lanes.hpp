// Choices sorted by expert, by many lanes: each of them counts the choices of its experts. One thread that does it
// alone takes longer than the rows need to their experts.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/atomics.hpp>
#include <pto/target/lanes.hpp>

namespace baton::moe {

/// What is sorted, and where to.
struct Choices {
  const int32_t* chosen;
  int64_t count;
  int32_t experts;
  int32_t capacity;    // of an expert; 0: no limit
  int32_t* starts;     // of each expert, and the end
  int32_t* positions;  // of each choice
};

inline constexpr int kLooksTogether = 8;

/// Of each choice its number among those of its expert, or `not_sent`; of each expert, in the place behind its own, how
/// many are sent. Whether all choices are experts, or `nobody`.
AICORE inline bool count_on_lanes(const Choices& all, int32_t nobody, int32_t not_sent) {
  kernel::store_relaxed(all.starts, int32_t{0});
  kernel::on_lanes<kernel::LanesWrite::memory>([all, nobody, not_sent](kernel::Lanes lanes) {
    for (int64_t i = lanes.lane; i < all.count; i += lanes.count) {
      const int32_t expert = all.chosen[i];
      if (expert == nobody) {
        all.positions[i] = not_sent;
      } else if (expert < 0 || expert >= all.experts) {
        kernel::store_relaxed(all.starts, int32_t{1});
      }
    }
    for (auto expert = static_cast<int32_t>(lanes.lane); expert < all.experts;
         expert += static_cast<int32_t>(lanes.count)) {
      int32_t sent = 0;
      const auto place = [&](int64_t i) {
        all.positions[i] = all.capacity == 0 || sent < all.capacity ? sent++ : not_sent;
      };
      // Several are on their way at once: one after the other, each would wait for memory.
      int64_t i = 0;
      for (; i + kLooksTogether <= all.count; i += kLooksTogether) {
        int32_t chosen[kLooksTogether];
        PTO_UNROLL
        for (int k = 0; k < kLooksTogether; ++k) chosen[k] = all.chosen[i + k];
        PTO_UNROLL
        for (int k = 0; k < kLooksTogether; ++k) {
          if (chosen[k] == expert) place(i + k);
        }
      }
      for (; i < all.count; ++i) {
        if (all.chosen[i] == expert) place(i);
      }
      all.starts[expert + 1] = sent;
    }
  });
  return kernel::load_relaxed(all.starts) == 0;
}

/// numbers[i] = numbers[0] + ... + numbers[i]
AICORE inline void add_up(int32_t* numbers, int64_t count) {
  int32_t sum = 0;
  int64_t i = 0;
  for (; i + kLooksTogether <= count; i += kLooksTogether) {
    int32_t some[kLooksTogether];
    PTO_UNROLL
    for (int k = 0; k < kLooksTogether; ++k) some[k] = numbers[i + k];
    PTO_UNROLL
    for (int k = 0; k < kLooksTogether; ++k) numbers[i + k] = sum += some[k];
  }
  for (; i < count; ++i) numbers[i] = sum += numbers[i];
}

/// Numbers among those of an expert become numbers among all.
AICORE inline void move_on_lanes(const Choices& all, int32_t not_sent) {
  kernel::on_lanes<kernel::LanesWrite::memory>([all, not_sent](kernel::Lanes lanes) {
    for (int64_t i = lanes.lane; i < all.count; i += lanes.count) {
      if (all.positions[i] != not_sent) all.positions[i] += all.starts[all.chosen[i]];
    }
  });
}

}  // namespace baton::moe
