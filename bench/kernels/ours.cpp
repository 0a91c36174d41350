// Tile instructions on a simulated core, and how fast a compiled kernel is found and loaded.
#include <algorithm>
#include <cstring>
#include <numeric>

#include <support/contend.hpp>
#include <support/measure.hpp>

#include "kernels/chip.hpp"
#include "kernels/compiled.hpp"

namespace {

using bench::Arguments;

/// The time of one of the `n` instructions that `kernel` executes.
template <class Call>
void measure_kernel(const Arguments& arguments, Call&& call) {
  const auto run = [&](std::int64_t n) {
    const auto start = bench::Clock::now();
    call(n);
    return bench::nanoseconds_since(start);
  };
  bench::print(bench::measure(arguments.budget, run, [](double x) { return x; }));
}

void add(const Arguments& arguments) {
  const auto library = bench::compiled("tadd", arguments);
  const bench::TileSize tile = bench::tile_of(arguments.bytes);
  bench::Chip chip;
  bench::Tensor out(chip, static_cast<std::uint32_t>(tile.rows), static_cast<std::uint32_t>(tile.cols));
  const BatonKernelEntry kernel = library.kernel("tadd");
  chip.run(kernel, {out.argument(), 1});
  bench::require(std::ranges::all_of(out.data(), [](float x) { return x == 3.75F; }), "TADD: a wrong sum");
  measure_kernel(arguments, [&](std::int64_t n) { chip.run(kernel, {out.argument(), n}); });
}

void transfer(const Arguments& arguments) {
  const auto library = bench::compiled("transfer", arguments);
  const bench::TileSize tile = bench::tile_of(arguments.bytes);
  bench::Chip chip;
  bench::Tensor in(chip, static_cast<std::uint32_t>(tile.rows), static_cast<std::uint32_t>(tile.cols));
  bench::Tensor out(chip, static_cast<std::uint32_t>(tile.rows), static_cast<std::uint32_t>(tile.cols));
  std::iota(in.data().begin(), in.data().end(), 1.0F);
  const BatonKernelEntry kernel = library.kernel(arguments.operation);
  chip.run(kernel, {in.argument(), out.argument(), 1});
  bench::require(in.data() == out.data(), "TLOAD, TSTORE: a wrong byte");
  measure_kernel(arguments, [&](std::int64_t n) { chip.run(kernel, {in.argument(), out.argument(), n}); });
}

void multiply(const Arguments& arguments) {
  const auto library = bench::compiled("tmatmul", arguments);
  const auto side = static_cast<std::uint32_t>(arguments.side);
  bench::Chip chip;
  bench::Tensor x(chip, side, side), w(chip, side, side), out(chip, side, side);
  for (std::size_t i = 0; i < x.data().size(); ++i) {
    x.data()[i] = static_cast<float>(i % 7);
    w.data()[i] = static_cast<float>(i % 5);
  }
  const BatonKernelEntry kernel = library.kernel("tmatmul");
  chip.run(kernel, {x.argument(), w.argument(), out.argument(), 1});
  for (std::uint32_t row = 0; row < side; row += 5) {
    for (std::uint32_t col = 0; col < side; col += 3) {
      float sum = 0;
      for (std::uint32_t k = 0; k < side; ++k) sum += x.data()[row * side + k] * w.data()[k * side + col];
      bench::require(out.data()[row * side + col] == sum, "TMATMUL: a wrong product");
    }
  }
  measure_kernel(arguments, [&](std::int64_t n) { chip.run(kernel, {x.argument(), w.argument(), out.argument(), n}); });
}

/// Sorted blocks, merged blocks, or elements by their places; what comes out is held against the standard library.
void sort(const Arguments& arguments) {
  const auto library = bench::compiled("sorting", arguments);
  Arguments unchecked = arguments;
  unchecked.method = "unchecked";
  const auto loops = bench::compiled("loop_sorting", unchecked);
  const bool pairs = arguments.operation != "tgather";
  const auto floats = static_cast<std::uint32_t>(arguments.bytes / sizeof(float)) * (pairs ? 2 : 1);
  bench::Chip chip;
  bench::Tensor out(chip, 1, floats), expected(chip, 1, floats);
  const BatonKernelEntry kernel = library.kernel(arguments.operation);
  const char* loop = arguments.operation == "tsort32"    ? "loop_sort"
                     : arguments.operation == "tmrgsort" ? "loop_merge"
                                                         : "loop_gather";
  chip.run(kernel, {out.argument(), 1});
  chip.run(loops.kernel(loop), {expected.argument(), 1});
  bench::require(std::memcmp(out.data().data(), expected.data().data(), floats * sizeof(float)) == 0,
                 "sorting: a wrong order");
  measure_kernel(arguments, [&](std::int64_t n) { chip.run(kernel, {out.argument(), n}); });
}

/// From the request to a function that can be called, with the library in the cache and not loaded.
void load_warm(const Arguments& arguments) {
  const baton::kernel::CompileRequest request = bench::request_for("tadd", arguments);
  const baton::Options options = bench::cache_options();
  static_cast<void>(baton::kernel::compile(request, options));
  measure_kernel(arguments, [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto found = baton::kernel::compile(request, options);
      bench::require(found.origin == baton::kernel::Origin::cache, "load: not in the cache");
      bench::require(baton::kernel::load(found.library).entry("tadd") != nullptr, "load: no kernel");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv,
                        {{"tadd", add},
                         {"tload", transfer},
                         {"tstore", transfer},
                         {"tmatmul", multiply},
                         {"tsort32", sort},
                         {"tmrgsort", sort},
                         {"tgather", sort},
                         {"load", load_warm}});
}
