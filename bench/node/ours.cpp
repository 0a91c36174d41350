// Tasks of a node: to a chip and back, many in flight, and how long a node takes to start.
#include <algorithm>
#include <numeric>

#include <baton/worker.hpp>

#include <support/arguments.hpp>
#include <support/contend.hpp>
#include <support/measure.hpp>

namespace {

using bench::Arguments;
using bench::Clock;

void nothing(baton::Graph& /*graph*/, const baton::ChipArgs& /*args*/) {}

baton::WorkerOptions options_of(const Arguments& arguments) {
  baton::WorkerOptions options;
  options.devices.resize(static_cast<std::size_t>(arguments.ranks));
  std::iota(options.devices.begin(), options.devices.end(), 0);
  options.isolation = arguments.method == "inproc" ? baton::Isolation::inproc : baton::Isolation::processes;
  return options;
}

template <class Run>
void measure(const Arguments& arguments, Run&& run) {
  bench::print(bench::measure(
      arguments.budget,
      [&](std::int64_t n) {
        const auto start = Clock::now();
        run(n);
        return bench::nanoseconds_since(start);
      },
      [](double ns) { return ns; }));
}

/// One empty task at a time.
void round_trip(const Arguments& arguments) {
  baton::Worker worker(options_of(arguments));
  const baton::TaskArgs none;
  measure(arguments, [&](std::int64_t n) {
    worker.run([&](baton::Orchestration& o) {
      for (std::int64_t i = 0; i < n; ++i) o.wait(o.submit_next_level(nothing, none, 0));
    });
  });
}

/// Runs of `tasks` tasks over all chips; each has `live` tensors of its chip, which it changes.
void pipelined(const Arguments& arguments) {
  baton::Worker worker(options_of(arguments));
  const int chips = arguments.ranks;
  const auto tensors = static_cast<std::int64_t>(arguments.live);
  const baton::Tensor x =
      worker.create_buffer(baton::DType::float32, {chips, std::max<std::int64_t>(1, tensors), 64}, "x");
  const auto run = [&] {
    worker.run([&](baton::Orchestration& o) {
      baton::TaskArgs args;
      for (std::size_t i = 0; i < arguments.tasks; ++i) {
        const int chip = static_cast<int>(i % static_cast<std::size_t>(chips));
        args.clear();
        for (std::int64_t t = 0; t < tensors; ++t) {
          args.add_tensor(x.index(chip).index(t), baton::TensorArgType::inout);
        }
        o.submit_next_level(nothing, args, chip);
      }
    });
  };
  bench::Measured measured = bench::measure(
      arguments.budget,
      [&](std::int64_t n) {
        const auto start = Clock::now();
        for (std::int64_t i = 0; i < n; ++i) run();
        return bench::nanoseconds_since(start);
      },
      [](double ns) { return ns; });
  measured.median_ns /= static_cast<double>(arguments.tasks);
  bench::print(measured);
}

/// From nothing to chips that are ready, and their end.
void start(const Arguments& arguments) {
  const baton::WorkerOptions options = options_of(arguments);
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < 5 || Clock::now() - begin < arguments.budget) {
    const auto before = Clock::now();
    const baton::Worker worker(options);
    times.push_back(bench::nanoseconds_since(before));
  }
  bench::print({bench::median(times), static_cast<std::int64_t>(times.size())});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv, {{"round_trip", round_trip}, {"pipelined", pipelined}, {"start", start}});
}
