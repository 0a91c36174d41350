// Steps of training as graphs: the cube core calculates, and sums wait for the other ranks without a core.
#include <baton/baton.hpp>
#include <baton/collectives.hpp>
#include <baton/graph_collectives.hpp>
#include <baton_kernel.hpp>

#include <support/contend.hpp>
#include <workloads/overlap.hpp>

BATON_CUBE_KERNEL(calculate, InOut<float> state) { bench::calculate_piece(state.data()); }
BATON_CUBE_KERNEL(calculate_after, InOut<float> state, In<float> sum) {
  (void)sum;
  bench::calculate_piece(state.data());
}
BATON_CUBE_KERNEL(calculate_bucket, InOut<float> state, Out<float> bucket, float value) {
  bench::calculate_piece(state.data());
  bench::fill_bucket(bucket.data(), static_cast<size_t>(bucket.size()), value);
}

namespace {

enum class Order { overlap, in_turn };

class Stepper {
 public:
  Stepper(const baton::Domain& me, const bench::Step& step, Order order)
      : room_(me, {.bytes = 2 * step.bytes + (1U << 16U)}),  // a bucket is not cut
        chip_(me, {.clusters = 1}),
        state_(chip_.alloc<float>({static_cast<std::int64_t>(bench::kStateElements)})) {
    for (int bucket = 0; bucket < step.buckets; ++bucket) {
      buckets_.push_back(chip_.alloc<float>({static_cast<std::int64_t>(step.elements())}));
      sums_.push_back(chip_.alloc<float>({static_cast<std::int64_t>(step.elements())}));
    }
    graph_ = chip_.capture([&](baton::Graph& graph) {
      for (std::size_t i = 0; i < buckets_.size(); ++i) {
        const auto bucket = static_cast<int>(i);
        for (int piece = 1; piece < step.pieces(bucket, me.rank()); ++piece) {
          if (order == Order::in_turn && piece == 1 && i > 0) {
            graph.submit(calculate_after, state_, sums_[i - 1]);
          } else {
            graph.submit(calculate, state_);
          }
        }
        graph.submit(calculate_bucket, state_, buckets_[i], step.value(bucket, me.rank()));
        baton::allreduce(graph, room_, buckets_[i], sums_[i], baton::ReduceOp::sum, {.priority = 1});
      }
    });
  }

  void step() { chip_.run(*graph_); }
  void forget() {
    for (const baton::Tensor& sums : sums_) {
      chip_.copy_in<float>(sums, std::vector<float>(static_cast<std::size_t>(sums.element_count()), -1.0F));
    }
  }
  [[nodiscard]] std::vector<float> sums(int bucket) {
    const baton::Tensor& from = sums_[static_cast<std::size_t>(bucket)];
    std::vector<float> out(static_cast<std::size_t>(from.element_count()));
    chip_.copy_out<float>(from, out);
    return out;
  }

 private:
  baton::CollectiveRoom room_;
  baton::Chip chip_;
  baton::Tensor state_;
  std::vector<baton::Tensor> buckets_, sums_;
  std::optional<baton::CapturedGraph> graph_;
};

void measure_rank(baton::Domain me, const bench::Arguments& arguments, Order order) {
  bench::pin_if_enough(me.rank(), me.size());
  const bench::Step step{.ranks = me.size(), .bytes = arguments.bytes};
  Stepper stepper(me, step, order);
  const auto largest = [&](double value) {
    baton::allreduce(me, std::span(&value, 1), baton::ReduceOp::max);
    return value;
  };
  const auto steps = [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) stepper.step();
  };
  const bench::Measured measured = bench::measure_steps(step, arguments.budget, steps, largest);
  bench::check_sums(stepper, step);
  me.barrier();  // nobody leaves while others may still read its window
  if (me.rank() == 0) bench::print(measured);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(
      argc, argv,
      {{"overlap", [](const bench::Arguments& a) { measure_rank(baton::join(), a, Order::overlap); }},
       {"in_turn", [](const bench::Arguments& a) { measure_rank(baton::join(), a, Order::in_turn); }}});
}
