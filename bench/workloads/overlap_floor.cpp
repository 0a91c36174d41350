// The calculations of a step alone, on as many processes: nobody waits for anybody.
#include <vector>

#include <support/arguments.hpp>
#include <support/forked_ranks.hpp>
#include <workloads/overlap.hpp>

namespace {

void measure_rank(bench::Meeting& meeting, int rank, const bench::Arguments& arguments) {
  const bench::Step step{.ranks = arguments.ranks, .bytes = arguments.bytes};
  bench::pin_if_enough(rank, step.ranks);
  std::vector<float> state(bench::kStateElements);
  std::vector<float> bucket(step.elements());
  const auto steps = [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (int b = 0; b < step.buckets; ++b) {
        for (int piece = 0; piece < step.pieces(b, rank); ++piece) bench::calculate_piece(state.data());
        bench::fill_bucket(bucket.data(), bucket.size(), step.value(b, rank));
      }
    }
  };
  const auto largest = [&](double value) { return meeting.largest(rank, step.ranks, value); };
  const bench::Measured measured = bench::measure_steps(step, arguments.budget, steps, largest);
  if (rank == 0) bench::print(measured);
}

}  // namespace

int main(int argc, char** argv) { return bench::measure_in_ranks("workloads_overlap_floor", argc, argv, measure_rank); }
