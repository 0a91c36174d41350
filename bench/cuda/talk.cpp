#include "cuda/talk.hpp"

#include <vector>

#include <baton/baton.hpp>
#include <baton/kernel_source.hpp>
#include <moe/layout.hpp>

#include "cuda/ranks.hpp"
#include "support/measure.hpp"
#include "workloads/experts.hpp"

namespace bench::cuda {
namespace {

using baton::Access;
using baton::Graph;
using baton::Tensor;

Tensor tensor_in(const baton::ChipWindow& window, std::size_t offset, baton::DType dtype, std::int64_t count) {
  const baton::Buffer memory{.address = reinterpret_cast<std::uint64_t>(window.local() + offset),
                             .bytes = static_cast<std::uint64_t>(count) * baton::size_of(dtype)};
  return Tensor(memory, dtype, {count});
}

void measure_put_at(baton::Domain me, const Arguments& arguments) {
  constexpr std::int64_t kRounds = 1000;  // of one operation, which begins with the launch of a graph
  const baton::KernelFile file = baton::KernelFile::compile({.source = CUDA_TALK_KERNELS, .platform = "cuda"});
  const baton::LoadedKernel ping_pong = file.kernel("ping_pong");
  baton::Chip chip(me, part_of(me, 1));
  const auto count = static_cast<std::int64_t>(arguments.bytes / sizeof(float));
  constexpr std::size_t kLine = 64;
  const baton::ChipWindow window = chip.window(me, "put", kLine + arguments.bytes);
  const Tensor signals = tensor_in(window, 0, baton::DType::int32, 1);
  const Tensor there = tensor_in(window, kLine, baton::DType::float32, count);
  const Tensor source = chip.alloc<float>({count}, "source");
  std::int32_t before = 0;
  const auto run = [&](std::int64_t n) {
    const auto rounds = static_cast<std::int32_t>(n * kRounds);
    me.barrier();
    const auto start = Clock::now();
    chip.run([&](Graph& graph) {
      graph.submit(ping_pong.get(), {{Access::in, source},
                                     {Access::inout, there},
                                     {Access::inout, signals},
                                     reinterpret_cast<std::uint64_t>(window.context()),
                                     rounds,
                                     before});
    });
    before += rounds;
    return nanoseconds_since(start);
  };
  Measured measured = measure(arguments.budget, run, [&](double value) { return largest_of(me, value); });
  measured.median_ns /= 2 * kRounds;
  if (me.rank() == 0) print(measured);
  me.barrier();
}

/// Cores that share a multiprocessor: one of them works while others wait, and each has room for its tiles.
constexpr int kShare = 3;

/// One rank's side, with all multiprocessors of its part of the GPU.
class Exchange {
 public:
  Exchange(const baton::Domain& me, const Layer& layer)
      : layer_(layer),
        file_(baton::KernelFile::compile({.source = CUDA_EXPERT_KERNELS, .platform = "cuda"})),
        layout_({layer.ranks, layer.experts_per_rank, layer.top_k, layer.tokens, layer.width, kElementBytes, 0}),
        chip_(me, part_of(me, kShare * baton::Chip(part_of(me, 0)).clusters())),
        window_(chip_.window(me, "experts", static_cast<std::size_t>(layout_.window_bytes()))) {
    chip_.copy_in<std::int32_t>(problem_, std::vector<std::int32_t>{layer.ranks, layer.experts_per_rank, layer.top_k,
                                                                    layer.tokens, layer.width, kElementBytes, 0});
    chip_.copy_in<std::uint16_t>(bits(tokens_), tokens_of(layer, me.rank()));
    chip_.copy_in<std::int32_t>(experts_, choices_of(layer, me.rank()));
    chip_.copy_in<float>(weights_, weights_of(layer));
  }

  /// Several, in one graph.
  void rounds(std::int64_t n, bool and_back) {
    const auto local = reinterpret_cast<std::uint64_t>(window_.local());
    const auto context = reinterpret_cast<std::uint64_t>(window_.context());
    const std::int32_t tokens = layer_.tokens;
    const auto in = [](const Tensor& tensor) { return baton::Argument(Access::in, tensor); };
    const auto out = [](const Tensor& tensor) { return baton::Argument(Access::out, tensor); };
    const baton::TaskOptions on_all{.blocks = static_cast<std::uint32_t>(chip_.vector_cores() + chip_.cube_cores())};
    const auto taken = [&](Graph& graph, const Tensor& read, baton::moe::Counter which) {
      graph.submit(taken_.get(), {in(problem_), in(read), local, context, static_cast<std::int32_t>(which)});
    };
    chip_.run([&](Graph& graph) {
      for (std::int64_t i = 0; i < n; ++i) {
        ++round_;
        graph.submit(route_.get(), {in(problem_), in(experts_), out(plan_), tokens});
        graph.submit(store_.get(), {in(problem_), in(tokens_), in(plan_), out(stored_), local, context, tokens, round_},
                     on_all);
        graph.submit(tell_.get(), {in(problem_), in(plan_), in(stored_), out(arrived_), local, context, round_});
        graph.submit(
            gather_.get(),
            {in(problem_), in(plan_), in(tokens_), in(arrived_), out(rows_), out(blocks_), local, context, tokens},
            on_all);
        taken(graph, rows_, baton::moe::Counter::rows_taken);
        if (!and_back) continue;
        graph.submit(store_back_.get(), {in(problem_), in(rows_), in(blocks_), out(stored_), local, context, round_},
                     on_all);
        graph.submit(tell_back_.get(), {in(problem_), in(stored_), out(home_), local, context, round_});
        graph.submit(sum_up_.get(),
                     {in(problem_), in(plan_), in(rows_), in(blocks_), in(weights_), in(home_), out(sums_), local,
                      context, tokens},
                     on_all);
        taken(graph, sums_, baton::moe::Counter::returns_taken);
      }
    });
  }

  [[nodiscard]] std::vector<std::uint16_t> sums() {
    std::vector<std::uint16_t> out(static_cast<std::size_t>(sums_.element_count()));
    chip_.copy_out<std::uint16_t>(bits(sums_), out);
    return out;
  }

 private:
  static constexpr std::int32_t kElementBytes = 2;

  [[nodiscard]] static Tensor bits(const Tensor& elements) {
    return Tensor(elements.buffer(), baton::DType::uint16, {elements.element_count()});
  }
  [[nodiscard]] Tensor rows_of(std::int64_t count, const char* name) {
    return chip_.alloc(baton::DType::bfloat16, {count, layer_.width}, name);
  }

  Layer layer_;
  baton::KernelFile file_;
  baton::LoadedKernel route_ = file_.kernel("route_tokens");
  baton::LoadedKernel store_ = file_.kernel("store");
  baton::LoadedKernel tell_ = file_.kernel("tell");
  baton::LoadedKernel gather_ = file_.kernel("gather_rows");
  baton::LoadedKernel taken_ = file_.kernel("taken");
  baton::LoadedKernel store_back_ = file_.kernel("store_back");
  baton::LoadedKernel tell_back_ = file_.kernel("tell_back");
  baton::LoadedKernel sum_up_ = file_.kernel("sum_up");
  baton::moe::Layout layout_;
  baton::Chip chip_;
  baton::ChipWindow window_;
  Tensor problem_ = chip_.alloc<std::int32_t>({baton::moe::kProblemInts}, "problem");
  Tensor tokens_ = rows_of(layer_.tokens, "tokens");
  Tensor experts_ = chip_.alloc<std::int32_t>({layer_.choices()}, "experts");
  Tensor plan_ = chip_.alloc<std::int32_t>({layout_.plan_ints()}, "plan");
  Tensor rows_ = rows_of(layout_.received_at_most(), "rows");
  Tensor blocks_ = chip_.alloc<std::int32_t>({layout_.block_ints()}, "blocks");
  Tensor stored_ = chip_.alloc<std::int32_t>({1}, "stored");
  Tensor arrived_ = chip_.alloc<std::int32_t>({1}, "arrived");
  Tensor home_ = chip_.alloc<std::int32_t>({1}, "home");
  Tensor weights_ = chip_.alloc<float>({layer_.choices()}, "weights");
  Tensor sums_ = rows_of(layer_.tokens, "sums");
  std::int32_t round_ = 0;
};

void measure_experts_at(baton::Domain me, const Arguments& arguments) {
  const bool and_back = arguments.method == "layer";
  if (!and_back && arguments.method != "dispatch") throw std::invalid_argument("unknown method " + arguments.method);
  constexpr int kExperts = 256;
  const Layer layer{.ranks = me.size(),
                    .tokens = static_cast<int>(arguments.tokens),
                    .top_k = 8,
                    .experts_per_rank = kExperts / me.size(),
                    .width = 7168};
  Exchange exchange(me, layer);
  const auto run = [&](std::int64_t n) {
    me.barrier();
    const auto start = Clock::now();
    exchange.rounds(n, and_back);
    return nanoseconds_since(start);
  };
  const Measured measured = measure(arguments.budget, run, [&](double value) { return largest_of(me, value); });
  if (and_back) check_sums(layer, me.rank(), exchange.sums());
  if (me.rank() == 0) print(measured);
  me.barrier();
}

}  // namespace

void measure_put(const Arguments& arguments) {
  on_threads(2, [&](const baton::Domain& me) { measure_put_at(me, arguments); });
}

void measure_experts(const Arguments& arguments) {
  on_threads(arguments.ranks, [&](const baton::Domain& me) { measure_experts_at(me, arguments); });
}

}  // namespace bench::cuda
