// The least that moving and adding costs here when all processors do it at once, without any library.
#include <cstring>
#include <stdexcept>
#include <vector>

#include <support/arguments.hpp>
#include <support/forked_ranks.hpp>
#include <support/measure.hpp>

namespace {

/// Every process does `work()` on its own buffers at the same time; the mean of their times.
template <class Work>
void side_by_side(bench::Meeting& meeting, int rank, int ranks, std::chrono::nanoseconds budget, Work&& work) {
  bench::pin_in_turns(rank, ranks);
  const auto run = [&](std::int64_t n) {
    meeting.barrier(ranks);
    const auto start = bench::Clock::now();
    for (std::int64_t i = 0; i < n; ++i) work();
    return bench::nanoseconds_since(start);
  };
  const auto agree = [&](double value) { return meeting.mean_of_even(rank, ranks, value); };
  const bench::Measured measured = bench::measure(budget, run, agree);
  if (rank == 0) bench::print(measured);
}

void measure_in(bench::Meeting& meeting, int rank, const bench::Arguments& arguments) {
  std::vector<float> from(arguments.bytes / sizeof(float) + 1, 1.0F);
  std::vector<float> to(from.size(), 1.0F);
  if (arguments.operation == "copy") {
    side_by_side(meeting, rank, arguments.ranks, arguments.budget, [&] {
      std::memcpy(to.data(), from.data(), arguments.bytes);
      asm volatile("" : : "r"(to.data()) : "memory");
    });
  } else if (arguments.operation == "sum") {
    side_by_side(meeting, rank, arguments.ranks, arguments.budget, [&] {
      float* target = to.data();
      const float* source = from.data();
      for (std::size_t i = 0; i < arguments.bytes / sizeof(float); ++i) target[i] += source[i];
      asm volatile("" : : "r"(target) : "memory");
    });
  } else {
    throw std::invalid_argument("no operation '" + arguments.operation + "'");
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::measure_in_ranks("collectives_floor", argc, argv, measure_in); }
