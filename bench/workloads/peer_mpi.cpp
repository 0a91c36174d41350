// The same layer with MPI: counts by MPI_Alltoall, rows by MPI_Alltoallv, and back.
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include <support/contend.hpp>
#include <support/mpi.hpp>
#include <support/process.hpp>
#include <workloads/experts.hpp>

namespace {

using Row = std::uint16_t;

/// Where each of `counts` begins, and the end.
std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> starts(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

class Exchange {
 public:
  Exchange(const bench::Layer& layer, int rank, bench::MpiWaiting waiting)
      : layer_(layer),
        waiting_(waiting),
        tokens_(bench::tokens_of(layer, rank)),
        choices_(bench::choices_of(layer, rank)),
        weights_(bench::weights_of(layer)),
        outbox_(layer.elements(layer.choices())),
        returns_(outbox_.size()),
        sums_(tokens_.size()),
        positions_(choices_.size()),
        sent_(static_cast<std::size_t>(layer.experts())),
        received_(sent_.size()),
        sum_(static_cast<std::size_t>(layer.width)) {}

  void round(bool and_back) {
    route_and_pack();
    exchange_counts();
    inbox_.resize(layer_.elements(row_count_));
    rows_.resize(inbox_.size());
    exchange_rows(outbox_, send_, inbox_, receive_);
    move_rows(inbox_, rows_, false);
    if (!and_back) return;
    move_rows(rows_, inbox_, true);
    exchange_rows(inbox_, receive_, returns_, send_);
    combine();
  }

  [[nodiscard]] const std::vector<Row>& sums() const { return sums_; }

 private:
  /// Elements that go to each rank or come from it.
  struct Blocks {
    std::vector<int> counts;
    std::vector<int> starts;
  };

  void route_and_pack() {
    std::fill(sent_.begin(), sent_.end(), 0);
    for (std::size_t i = 0; i < choices_.size(); ++i) positions_[i] = sent_[static_cast<std::size_t>(choices_[i])]++;
    const std::vector<int> starts = starts_of(sent_);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      positions_[i] += starts[static_cast<std::size_t>(choices_[i])];
      const int token = static_cast<int>(i) / layer_.top_k;
      copy_row(outbox_, positions_[i], tokens_, token, 1);
    }
  }

  void exchange_counts() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoall(sent_.data(), layer_.experts_per_rank, MPI_INT, received_.data(), layer_.experts_per_rank, MPI_INT,
                  MPI_COMM_WORLD, &request);
    bench::wait_for(request, waiting_);
    send_ = by_rank(sent_);
    receive_ = by_rank(received_);
    row_count_ = std::accumulate(received_.begin(), received_.end(), 0);
  }

  [[nodiscard]] Blocks by_rank(const std::vector<int>& by_expert) const {
    std::vector<int> counts(static_cast<std::size_t>(layer_.ranks), 0);
    for (std::size_t i = 0; i < by_expert.size(); ++i) {
      counts[i / static_cast<std::size_t>(layer_.experts_per_rank)] += by_expert[i] * layer_.width;
    }
    return {counts, starts_of(counts)};
  }

  void exchange_rows(const std::vector<Row>& from, const Blocks& send, std::vector<Row>& to,
                     const Blocks& receive) const {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoallv(from.data(), send.counts.data(), send.starts.data(), MPI_UINT16_T, to.data(), receive.counts.data(),
                   receive.starts.data(), MPI_UINT16_T, MPI_COMM_WORLD, &request);
    bench::wait_for(request, waiting_);
  }

  /// From the order of ranks to that of experts, or back.
  void move_rows(const std::vector<Row>& from, std::vector<Row>& to, bool to_ranks) const {
    const std::vector<int> starts = starts_of(received_);  // by source, then by expert
    int row = 0;                                           // by expert, then by source
    for (int expert = 0; expert < layer_.experts_per_rank; ++expert) {
      for (int source = 0; source < layer_.ranks; ++source) {
        const auto block = static_cast<std::size_t>(source * layer_.experts_per_rank + expert);
        if (to_ranks) {
          copy_row(to, starts[block], from, row, received_[block]);
        } else {
          copy_row(to, row, from, starts[block], received_[block]);
        }
        row += received_[block];
      }
    }
  }

  void combine() {
    for (int token = 0; token < layer_.tokens; ++token) {
      std::fill(sum_.begin(), sum_.end(), 0.0F);
      for (int k = 0; k < layer_.top_k; ++k) {
        const auto choice = static_cast<std::size_t>(token * layer_.top_k + k);
        const Row* row = returns_.data() + layer_.elements(positions_[choice]);
        const float weight = weights_[choice];
        for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += weight * bench::from_bfloat16(row[i]);
      }
      Row* to = sums_.data() + layer_.elements(token);
      for (std::size_t i = 0; i < sum_.size(); ++i) to[i] = bench::to_bfloat16(sum_[i]);
    }
  }

  void copy_row(std::vector<Row>& to, int to_row, const std::vector<Row>& from, int from_row, int count) const {
    if (count == 0) return;
    std::memcpy(to.data() + layer_.elements(to_row), from.data() + layer_.elements(from_row),
                layer_.elements(count) * sizeof(Row));
  }

  bench::Layer layer_;
  bench::MpiWaiting waiting_;
  std::vector<Row> tokens_;
  std::vector<std::int32_t> choices_;
  std::vector<float> weights_;
  std::vector<Row> outbox_, inbox_, rows_, returns_, sums_;
  std::vector<int> positions_;
  std::vector<int> sent_, received_;  // rows of each expert
  Blocks send_, receive_;
  int row_count_ = 0;
  std::vector<float> sum_;
};

void measure_rank(const bench::Arguments& arguments) {
  bench::Layer layer{.tokens = static_cast<int>(arguments.tokens)};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &layer.ranks);
  bench::pin_if_enough(rank, layer.ranks);
  Exchange exchange(layer, rank, bench::mpi_waiting_of(arguments.method));
  const bench::Measured measured =
      bench::measure_experts(exchange, arguments.operation, layer, rank, arguments.budget, bench::mpi_largest);
  if (rank == 0) bench::print(measured);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(nullptr, nullptr);
  const int status = bench::contend(argc, argv, measure_rank);
  MPI_Finalize();
  return status;
}
