#include "cli/tune/measurement.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include <baton/collectives.hpp>
#include <baton/join.hpp>

#include "collectives/selection.hpp"

namespace baton::cli {
namespace {

using collectives::AlgorithmInfo;
using collectives::Location;
using collectives::Operation;

constexpr Location kLocations[] = {Location::in_windows, Location::elsewhere};

/// Calls `body(location, bytes, algorithm)` for each measurement of an operation.
template <class Body>
void for_each_measurement(const TuneGrid& grid, Operation operation, const Body& body) {
  const std::vector<std::size_t> nothing = {0};
  for (const Location location : kLocations) {
    for (const std::size_t bytes : operation == Operation::barrier ? nothing : grid.sizes) {
      for (const AlgorithmInfo& info : collectives::all_algorithms()) {
        if (info.operation == operation && collectives::takes(info, bytes, collectives::Reach::all_ranks))
          body(location, bytes, info.algorithm);
      }
    }
    if (operation == Operation::barrier) return;
  }
}

/// The buffers of one rank: in windows, and outside.
class Bench {
 public:
  Bench(Domain& me, std::size_t most_bytes)
      : me_(me),
        elements_(std::max<std::size_t>(1, most_bytes / sizeof(float)) * static_cast<std::size_t>(me.size())),
        in_window_(me.window<float>("tune in", elements_)),
        out_window_(me.window<float>("tune out", elements_)),
        in_own_(elements_),
        out_own_(elements_) {}

  void call(Operation operation, Location location, std::size_t bytes, Algorithm algorithm) {
    const auto ranks = static_cast<std::size_t>(me_.size());
    const std::size_t whole = bytes / sizeof(float);
    const std::size_t block = std::max<std::size_t>(1, whole / ranks);
    const CollectiveOptions options{.algorithm = algorithm};
    switch (operation) {
      case Operation::barrier: return barrier(me_, options);
      case Operation::broadcast: return broadcast(me_, out(location, whole), root(), options);
      case Operation::reduce:
        return reduce(me_, in(location, whole), out(location, whole), root(), ReduceOp::sum, options);
      case Operation::allreduce:
        return allreduce(me_, in(location, whole), out(location, whole), ReduceOp::sum, options);
      case Operation::reduce_scatter:
        return reduce_scatter(me_, in(location, block * ranks), out(location, block), ReduceOp::sum, options);
      case Operation::allgather: return allgather(me_, in(location, whole), out(location, whole * ranks), options);
      case Operation::gather: return gather(me_, in(location, whole), out(location, whole * ranks), root(), options);
      case Operation::scatter: return scatter(me_, in(location, block * ranks), out(location, block), root(), options);
      case Operation::all_to_all:
        return all_to_all(me_, in(location, block * ranks), out(location, block * ranks), options);
      case Operation::all_to_all_v:
        counts_.assign(ranks, block);
        return all_to_all_v(me_, in(location, block * ranks), counts_, out(location, block * ranks), counts_, options);
    }
  }

  /// Microseconds of a call: the shortest mean of a few rows of calls, which disturbances lengthen only. A row lasts
  /// from the first rank's start until the last one's end: ranks that share a processor do not start together.
  [[nodiscard]] double measure(std::chrono::nanoseconds budget, Operation operation, Location location,
                               std::size_t bytes, Algorithm algorithm) {
    constexpr int kRows = 5;
    const auto row = [&](std::uint64_t calls) {
      me_.barrier();
      std::array<double, 2> start_and_end{-now(), 0};
      for (std::uint64_t i = 0; i < calls; ++i) call(operation, location, bytes, algorithm);
      start_and_end[1] = now();
      allreduce(me_, std::span(start_and_end), ReduceOp::max);
      return start_and_end[0] + start_and_end[1];
    };
    static_cast<void>(row(2));
    const double once = row(2) / 2;
    const double available = std::chrono::duration<double, std::micro>(budget).count() / kRows;
    const auto calls = static_cast<std::uint64_t>(std::clamp(available / std::max(once, 0.1), 1.0, 1e6));
    double best = row(calls);
    for (int i = 1; i < kRows; ++i) best = std::min(best, row(calls));
    return best / static_cast<double>(calls);
  }

 private:
  /// Microseconds of the clock that all ranks of a host share.
  [[nodiscard]] static double now() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  [[nodiscard]] Data in(Location location, std::size_t count) {
    return (location == Location::in_windows ? Data(in_window_) : Data(in_own_)).slice(0, count);
  }
  [[nodiscard]] Data out(Location location, std::size_t count) {
    return (location == Location::in_windows ? Data(out_window_) : Data(out_own_)).slice(0, count);
  }
  /// At random, the same on all ranks.
  [[nodiscard]] int root() { return static_cast<int>(roots_() % static_cast<unsigned>(me_.size())); }

  Domain& me_;
  std::size_t elements_;
  Window<float> in_window_;
  Window<float> out_window_;
  std::vector<float> in_own_;
  std::vector<float> out_own_;
  std::vector<std::size_t> counts_;
  std::minstd_rand roots_;
};

}  // namespace

std::size_t measurement_count(const TuneGrid& grid) {
  std::size_t count = 0;
  for (const Operation operation : grid.operations)
    for_each_measurement(grid, operation, [&](Location, std::size_t, Algorithm) { ++count; });
  return count;
}

void measure_as_rank(const TuneGrid& grid, const std::string& results) {
  Domain me = join();
  Bench bench(me, grid.sizes.empty() ? 0 : *std::max_element(grid.sizes.begin(), grid.sizes.end()));
  std::ofstream out;
  if (me.rank() == 0) out.open(results, std::ios::app);
  for (const Operation operation : grid.operations) {
    for_each_measurement(grid, operation, [&](Location location, std::size_t bytes, Algorithm algorithm) {
      const double microseconds = bench.measure(grid.budget, operation, location, bytes, algorithm);
      if (me.rank() != 0) return;
      out << fmt::format("{} {} {} {} {} {}\n", static_cast<int>(operation), me.size(), static_cast<int>(location),
                         bytes, static_cast<int>(algorithm), microseconds)
          << std::flush;
    });
  }
  me.barrier();
}

std::optional<Measurement> parse_measurement(const std::string& line) {
  std::istringstream in(line);
  int operation = 0;
  int location = 0;
  int algorithm = 0;
  Measurement one;
  if (!(in >> operation >> one.ranks >> location >> one.bytes >> algorithm >> one.microseconds)) return std::nullopt;
  one.operation = static_cast<Operation>(operation);
  one.location = static_cast<Location>(location);
  one.algorithm = static_cast<Algorithm>(algorithm);
  return one;
}

}  // namespace baton::cli
