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

/// Buckets of numbers in a window, or in memory of the chip.
class Buckets {
 public:
  Buckets(const std::string& name, baton::Domain& me, baton::Chip& chip, const bench::Step& step, bool in_window) {
    const auto elements = static_cast<std::int64_t>(step.elements());
    if (in_window) {
      window_ = me.window<float>(name, step.elements() * static_cast<std::size_t>(step.buckets));
      all_ = baton::Tensor::over(std::span(window_->data(), window_->size()));
    } else {
      all_ = chip.alloc<float>({elements * step.buckets});
    }
    for (int i = 0; i < step.buckets; ++i) each_.push_back(all_.slice(i * elements, (i + 1) * elements));
  }

  [[nodiscard]] const baton::Tensor& operator[](std::size_t i) const { return each_[i]; }
  [[nodiscard]] baton::GraphData data(std::size_t i) const {
    return window_ ? baton::GraphData(*window_, each_[i]) : baton::GraphData(each_[i]);
  }
  [[nodiscard]] const baton::Tensor& all() const { return all_; }

 private:
  std::optional<baton::Window<float>> window_;
  baton::Tensor all_;
  std::vector<baton::Tensor> each_;
};

class Stepper {
 public:
  Stepper(baton::Domain& me, const bench::Step& step, Order order, bool in_windows)
      : room_(me, {.bytes = 2 * step.bytes + (1U << 16U)}),  // a bucket is not cut
        chip_(me, {.clusters = 1}),
        state_(chip_.alloc<float>({static_cast<std::int64_t>(bench::kStateElements)})),
        buckets_("buckets", me, chip_, step, in_windows),
        sums_("sums", me, chip_, step, in_windows) {
    graph_ = chip_.capture([&](baton::Graph& graph) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(step.buckets); ++i) {
        const auto bucket = static_cast<int>(i);
        for (int piece = 1; piece < step.pieces(bucket, me.rank()); ++piece) {
          if (order == Order::in_turn && piece == 1 && i > 0) {
            graph.submit(calculate_after, state_, sums_[i - 1]);
          } else {
            graph.submit(calculate, state_);
          }
        }
        graph.submit(calculate_bucket, state_, buckets_[i], step.value(bucket, me.rank()));
        baton::allreduce(graph, room_, buckets_.data(i), sums_.data(i), baton::ReduceOp::sum, {.priority = 1});
      }
    });
  }

  void step() { chip_.run(*graph_); }
  void forget() {
    const baton::Tensor& all = sums_.all();
    chip_.copy_in<float>(all, std::vector<float>(static_cast<std::size_t>(all.element_count()), -1.0F));
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
  Buckets buckets_, sums_;
  std::optional<baton::CapturedGraph> graph_;
};

void measure_rank(baton::Domain me, const bench::Arguments& arguments, Order order) {
  bench::pin_if_enough(me.rank(), me.size());
  const bench::Step step{.ranks = me.size(), .bytes = arguments.bytes};
  Stepper stepper(me, step, order, arguments.method != "private");
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
