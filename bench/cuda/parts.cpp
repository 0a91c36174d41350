#include "cuda/parts.hpp"

#include <baton/kernel_source.hpp>

#include "cuda/ranks.hpp"
#include "support/measure.hpp"

namespace bench::cuda {
namespace {

using baton::Access;
using baton::Graph;
using baton::Tensor;

void measure_part(baton::Domain me, const Arguments& arguments) {
  const baton::KernelFile file = baton::KernelFile::compile({.source = CUDA_BENCH_KERNELS, .platform = "cuda"});
  const baton::LoadedKernel add = file.kernel("add_stream");
  baton::Chip chip(me, part_of(me, 0));
  const auto count = static_cast<std::int64_t>(arguments.bytes / sizeof(float)) / me.size();
  const Tensor a = chip.alloc<float>({count}, "a");
  const Tensor b = chip.alloc<float>({count}, "b");
  const Tensor sum = chip.alloc<float>({count}, "sum");
  const auto blocks = static_cast<std::uint32_t>(chip.cube_cores() + chip.vector_cores());
  baton::CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(add.get(), {{Access::in, a}, {Access::in, b}, {Access::out, sum}}, {.blocks = blocks});
  });
  const auto run = [&](std::int64_t n) {
    me.barrier();
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < n; ++i) chip.run(graph);
    return nanoseconds_since(start);
  };
  const Measured measured = measure(arguments.budget, run, [&](double value) { return largest_of(me, value); });
  if (me.rank() == 0) print(measured);
  me.barrier();
}

}  // namespace

void measure_parts(const Arguments& arguments) {
  on_threads(arguments.ranks, [&](const baton::Domain& me) { measure_part(me, arguments); });
}

}  // namespace bench::cuda
