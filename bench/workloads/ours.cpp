// A layer of experts on chips that are ranks: the kernels are those of examples/moe_dispatch_combine.
#include <baton/baton.hpp>
#include <baton/collectives.hpp>
#include <moe/layout.hpp>
#include <pto/common/bfloat16.hpp>

#include <cstring>

#include <support/contend.hpp>
#include <support/process.hpp>
#include <workloads/experts.hpp>

using Element = bfloat16_t;

BATON_KERNEL_DECLARE(dispatch, baton::In<std::int32_t> problem, baton::In<Element> tokens,
                     baton::In<std::int32_t> experts, baton::Out<std::int32_t> plan, std::uint8_t* window,
                     const CommContext* context, std::int32_t token_count, std::int32_t round);
BATON_KERNEL_DECLARE(assemble, baton::In<std::int32_t> problem, baton::In<std::int32_t> plan, baton::In<Element> tokens,
                     baton::Out<Element> rows, baton::Out<std::int32_t> blocks, std::uint8_t* window,
                     const CommContext* context, std::int32_t token_count);
BATON_KERNEL_DECLARE(give_back, baton::In<std::int32_t> problem, baton::In<Element> results,
                     baton::In<std::int32_t> blocks, baton::Out<std::int32_t> home, std::uint8_t* window,
                     const CommContext* context, std::int32_t round);
BATON_KERNEL_DECLARE(combine, baton::In<std::int32_t> problem, baton::In<std::int32_t> plan, baton::In<Element> results,
                     baton::In<std::int32_t> blocks, baton::In<float> weights, baton::In<std::int32_t> home,
                     baton::Out<Element> sums, std::uint8_t* window, const CommContext* context,
                     std::int32_t token_count);

namespace {

class Exchange {
 public:
  Exchange(baton::Domain me, const bench::Layer& layer)
      : tokens_in_all_(layer.tokens),
        layout_({layer.ranks, layer.experts_per_rank, layer.top_k, layer.tokens, layer.width, sizeof(Element), 0}),
        window_(me.window<std::uint8_t>("experts", static_cast<std::size_t>(layout_.window_bytes()))),
        chip_(me, {.clusters = 1}),
        problem_(chip_.alloc<std::int32_t>({baton::moe::kProblemInts})),
        tokens_(chip_.alloc(baton::DType::bfloat16, {layer.tokens, layer.width})),
        experts_(chip_.alloc<std::int32_t>({layer.choices()})),
        plan_(chip_.alloc<std::int32_t>({layout_.plan_ints()})),
        rows_(chip_.alloc(baton::DType::bfloat16, {layout_.received_at_most(), layer.width})),
        blocks_(chip_.alloc<std::int32_t>({layout_.block_ints()})),
        home_(chip_.alloc<std::int32_t>({1})),
        weights_(chip_.alloc<float>({layer.choices()})),
        sums_(chip_.alloc(baton::DType::bfloat16, {layer.tokens, layer.width})) {
    chip_.copy_in<std::int32_t>(problem_, std::vector<std::int32_t>{layer.ranks, layer.experts_per_rank, layer.top_k,
                                                                    layer.tokens, layer.width, sizeof(Element), 0});
    const std::vector<std::uint16_t> tokens = bench::tokens_of(layer, me.rank());
    std::memcpy(reinterpret_cast<void*>(tokens_.address()), tokens.data(), tokens.size() * sizeof(Element));
    chip_.copy_in<std::int32_t>(experts_, bench::choices_of(layer, me.rank()));
    chip_.copy_in<float>(weights_, bench::weights_of(layer));
  }

  void round(bool and_back) {
    ++round_;
    chip_.run([&](baton::Graph& graph) {
      graph.submit(dispatch, problem_, tokens_, experts_, plan_, window_.data(), window_.context(), tokens_in_all_,
                   round_);
      graph.submit(assemble, problem_, plan_, tokens_, rows_, blocks_, window_.data(), window_.context(),
                   tokens_in_all_);
      if (!and_back) return;
      graph.submit(give_back, problem_, rows_, blocks_, home_, window_.data(), window_.context(), round_);
      graph.submit(combine, problem_, plan_, rows_, blocks_, weights_, home_, sums_, window_.data(), window_.context(),
                   tokens_in_all_);
    });
  }

  [[nodiscard]] std::vector<std::uint16_t> sums() const {
    std::vector<std::uint16_t> sums(static_cast<std::size_t>(sums_.element_count()));
    std::memcpy(sums.data(), reinterpret_cast<const void*>(sums_.address()), sums.size() * sizeof(Element));
    return sums;
  }

 private:
  std::int32_t tokens_in_all_;
  baton::moe::Layout layout_;
  baton::Window<std::uint8_t> window_;
  baton::Chip chip_;
  baton::Tensor problem_, tokens_, experts_, plan_, rows_, blocks_, home_, weights_, sums_;
  std::int32_t round_ = 0;
};

void measure_rank(baton::Domain me, const bench::Arguments& arguments) {
  const bench::Layer layer{.ranks = me.size(), .tokens = static_cast<int>(arguments.tokens)};
  Exchange exchange(me, layer);
  const auto largest = [&](double value) {
    baton::allreduce(me, std::span(&value, 1), baton::ReduceOp::max);
    return value;
  };
  const bench::Measured measured =
      bench::measure_experts(exchange, arguments.operation, layer, me.rank(), arguments.budget, largest);
  // Nobody leaves while others still tell it that rows were taken.
  me.barrier();
  if (me.rank() == 0) bench::print(measured);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv, [](const bench::Arguments& arguments) {
    if (arguments.method == "inproc") {
      return baton::run_ranks(arguments.ranks, [&](baton::Domain me) { measure_rank(me, arguments); });
    }
    const baton::Domain me = baton::join();
    bench::pin_if_enough(me.rank(), me.size());
    measure_rank(me, arguments);
  });
}
