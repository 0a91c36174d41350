// A step of training, the same for every contender: buckets of numbers are calculated one after the other, and each is
// summed over all ranks. Ranks take turns at being late: to whom the turn falls, its bucket takes longer.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <support/measure.hpp>

namespace bench {

struct Step {
  int ranks = 2;
  std::size_t bytes = 1U << 16U;  // of a bucket
  int buckets = 8;                // a multiple of the ranks: all calculate as much in a step

  [[nodiscard]] std::size_t elements() const { return bytes / sizeof(float); }
  /// How long it takes to calculate a bucket.
  [[nodiscard]] int pieces(int bucket, int rank) const { return bucket % ranks == rank ? 12 : 4; }
  [[nodiscard]] float value(int bucket, int rank) const { return static_cast<float>(1 + bucket + 10 * rank); }
  [[nodiscard]] float sum(int bucket) const {
    float result = 0;
    for (int rank = 0; rank < ranks; ++rank) result += value(bucket, rank);
    return result;
  }
};

/// What a piece of calculation works on.
inline constexpr std::size_t kStateElements = 1;
/// One piece: about 20 us. Nothing else can run on this processor meanwhile. Each step waits for the one before, in a
/// register: where memory and code happen to lie must not make one contender's calculation faster.
[[gnu::noinline]] inline void calculate_piece(float* state) {
  float value = *state;
  for (int step = 0; step < 6500; ++step) value = value * 0.75F + 0.5F;
  *state = value;
}
[[gnu::noinline]] inline void fill_bucket(float* bucket, std::size_t count, float value) {
  for (std::size_t i = 0; i < count; ++i) bucket[i] = value;
}

/// The time of a bucket in `steps(n)`, which does n steps; `largest` as in measure_together().
template <class Steps, class Largest>
[[nodiscard]] Measured measure_steps(const Step& step, std::chrono::nanoseconds budget, Steps&& steps,
                                     Largest&& largest) {
  if (step.buckets % step.ranks != 0) throw std::invalid_argument("ranks must divide the number of buckets");
  Measured measured = measure_together(budget, steps, largest);
  measured.median_ns /= step.buckets;
  measured.count *= step.buckets;
  return measured;
}

/// After a step of its own, `stepper.sums(bucket)` must be what it says. `stepper.forget()` overwrites what was there.
template <class Stepper>
void check_sums(Stepper& stepper, const Step& step) {
  stepper.forget();
  stepper.step();
  for (int bucket = 0; bucket < step.buckets; ++bucket) {
    for (const float sum : stepper.sums(bucket)) {
      if (sum != step.sum(bucket)) throw std::runtime_error("wrong sum in bucket " + std::to_string(bucket));
    }
  }
}

}  // namespace bench
