// Graphs on a GPU: what a task costs beside its kernel. Prints one line for each case: name, value, unit.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

namespace {

using baton::Chip;
using baton::Graph;
using baton::Tensor;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 7;

/// The median of some runs, in microseconds.
double median_us(const std::function<void()>& run) {
  run();
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::ranges::sort(times);
  return times[kRounds / 2];
}

baton::Argument in(const Tensor& tensor) { return {baton::Access::in, tensor}; }
baton::Argument out(const Tensor& tensor) { return {baton::Access::out, tensor}; }
baton::Argument inout(const Tensor& tensor) { return {baton::Access::inout, tensor}; }

std::vector<Tensor> cells_of(const Tensor& tensor, std::int64_t count) {
  std::vector<Tensor> cells;
  for (std::int64_t i = 0; i < count; ++i) cells.push_back(tensor.slice(i, i + 1));
  return cells;
}

struct Bench {
  Chip chip{{.platform = "cuda"}};
  baton::LoadedKernel nothing;
  baton::LoadedKernel add;

  [[nodiscard]] double run(const std::function<void(Graph&)>& orchestration) {
    baton::CapturedGraph graph = chip.capture(orchestration);
    return median_us([&] { chip.run(graph); });
  }

  void round_trip() {
    const Tensor x = chip.alloc<float>({1}, "x");
    std::printf("round_trip %.2f us\n", run([&](Graph& graph) { graph.submit(nothing.get(), {inout(x)}); }));
  }
  void independent() {
    constexpr std::int64_t kTasks = 100'000;
    const Tensor x = chip.alloc<float>({kTasks}, "x");
    const std::vector<Tensor> cells = cells_of(x, kTasks);
    const double time = run([&](Graph& graph) {
      for (const Tensor& cell : cells) graph.submit(nothing.get(), {inout(cell)});
    });
    std::printf("independent %.2f tasks/us\n", kTasks / time);
  }
  void chain() {
    constexpr int kTasks = 10'000;
    const Tensor x = chip.alloc<float>({1}, "x");
    const double time = run([&](Graph& graph) {
      for (int i = 0; i < kTasks; ++i) graph.submit(nothing.get(), {inout(x)});
    });
    std::printf("chain %.3f us/task\n", time / kTasks);
  }
  void fan() {
    constexpr int kFans = 500;
    constexpr std::int64_t kWidth = 64;
    const Tensor x = chip.alloc<float>({kWidth}, "x");
    const std::vector<Tensor> cells = cells_of(x, kWidth);
    const double time = run([&](Graph& graph) {
      for (int i = 0; i < kFans; ++i) {
        graph.submit(nothing.get(), {inout(x)});
        for (const Tensor& cell : cells) graph.submit(nothing.get(), {inout(cell)});
      }
      graph.submit(nothing.get(), {inout(x)});
    });
    std::printf("fan_1_64_1 %.2f us\n", time / kFans);
  }
  void stencil() {
    constexpr int kSteps = 500;
    constexpr std::int64_t kWidth = 128;
    const Tensor even = chip.alloc<float>({kWidth}, "even");
    const Tensor odd = chip.alloc<float>({kWidth}, "odd");
    const double time = run([&](Graph& graph) {
      for (int step = 0; step < kSteps; ++step) {
        const Tensor& from = step % 2 == 0 ? even : odd;
        const Tensor& to = step % 2 == 0 ? odd : even;
        for (std::int64_t i = 0; i < kWidth; ++i) {
          const Tensor around = from.slice(std::max<std::int64_t>(i - 1, 0), std::min(i + 2, kWidth));
          const Tensor cell = to.slice(i, i + 1);
          graph.submit(nothing.get(), {in(around), out(cell)});
        }
      }
    });
    std::printf("stencil_128 %.2f us/step\n", time / kSteps);
  }
  /// out = a + b, 1 GiB each: a task for each tile, or one task whose blocks take turns.
  void bandwidth(const char* name, const baton::LoadedKernel& tile, const baton::LoadedKernel& stream) {
    constexpr std::int64_t kCount = std::int64_t{1} << 28U;
    constexpr std::int64_t kTile = 4096;
    const Tensor a = chip.alloc<float>({kCount}, "a");
    const Tensor b = chip.alloc<float>({kCount}, "b");
    const Tensor c = chip.alloc<float>({kCount}, "c");
    const double tiles = run([&](Graph& graph) {
      for (std::int64_t i = 0; i < kCount; i += kTile) {
        const Tensor parts[] = {a.slice(i, i + kTile), b.slice(i, i + kTile), c.slice(i, i + kTile)};
        graph.submit(tile.get(), {in(parts[0]), in(parts[1]), out(parts[2])});
      }
    });
    const double stream_time = run([&](Graph& graph) {
      graph.submit(stream.get(), {in(a), in(b), out(c)}, {.blocks = static_cast<std::uint32_t>(3 * chip.clusters())});
    });
    std::printf("tadd_1GiB%s %.3f TB/s\n", name, 3.0 * kCount * sizeof(float) / tiles / 1e6);
    std::printf("tadd_1GiB_stream%s %.3f TB/s\n", name, 3.0 * kCount * sizeof(float) / stream_time / 1e6);
    chip.free(a);
    chip.free(b);
    chip.free(c);
  }
};

}  // namespace

/// With an argument, "unchecked": kernels without checks.
int main(int argc, char** /*argv*/) {
  const bool unchecked = argc > 1;
  try {
    const baton::KernelFile kernels = baton::KernelFile::compile(
        {.source = CUDA_BENCH_KERNELS,
         .platform = "cuda",
         .defines = unchecked ? std::vector<std::string>{"PTO_NO_CHECKS"} : std::vector<std::string>{}});
    Bench bench{.nothing = kernels.kernel("nothing"), .add = kernels.kernel("add")};
    bench.round_trip();
    bench.independent();
    bench.chain();
    bench.fan();
    bench.stencil();
    bench.bandwidth(unchecked ? "_unchecked" : "", bench.add, kernels.kernel("add_stream"));
  } catch (const baton::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
