// The same steps with MPI: MPI_Iallreduce while the next bucket is calculated, or MPI_Allreduce in turn.
#include <mpi.h>
#include <sched.h>

#include <algorithm>

#include <support/contend.hpp>
#include <support/mpi.hpp>
#include <workloads/overlap.hpp>

namespace {

enum class Order { overlap, in_turn };

/// What may be done about sums while calculating, and while there is nothing to calculate.
struct Progress {
  bool tests_between_pieces = false;
  bool yields = false;
};

class Stepper {
 public:
  Stepper(const bench::Step& step, int rank, Order order, Progress progress)
      : step_(step), rank_(rank), order_(order), progress_(progress), state_(bench::kStateElements) {
    const auto count = static_cast<std::size_t>(step.buckets);
    buckets_.assign(count, std::vector<float>(step.elements()));
    sums_ = buckets_;
    requests_.assign(count, MPI_REQUEST_NULL);
  }

  void step() {
    for (int bucket = 0; bucket < step_.buckets; ++bucket) {
      for (int piece = 0; piece < step_.pieces(bucket, rank_); ++piece) {
        bench::calculate_piece(state_.data());
        if (progress_.tests_between_pieces) static_cast<void>(all_done());
      }
      const auto i = static_cast<std::size_t>(bucket);
      bench::fill_bucket(buckets_[i].data(), buckets_[i].size(), step_.value(bucket, rank_));
      start_sum(i);
      if (order_ == Order::in_turn) finish();
    }
    finish();
  }
  void forget() {
    for (std::vector<float>& sums : sums_) std::fill(sums.begin(), sums.end(), -1.0F);
  }
  [[nodiscard]] const std::vector<float>& sums(int bucket) const { return sums_[static_cast<std::size_t>(bucket)]; }

 private:
  void start_sum(std::size_t i) {
    const auto count = static_cast<int>(step_.elements());
    if (order_ == Order::in_turn && !progress_.yields) {
      MPI_Allreduce(buckets_[i].data(), sums_[i].data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      return;
    }
    MPI_Iallreduce(buckets_[i].data(), sums_[i].data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests_[i]);
  }
  [[nodiscard]] bool all_done() {
    int done = 0;
    MPI_Testall(step_.buckets, requests_.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }
  void finish() {
    if (!progress_.yields) {
      MPI_Waitall(step_.buckets, requests_.data(), MPI_STATUSES_IGNORE);
      return;
    }
    while (!all_done()) sched_yield();
  }

  bench::Step step_;
  int rank_;
  Order order_;
  Progress progress_;
  std::vector<float> state_;
  std::vector<std::vector<float>> buckets_, sums_;
  std::vector<MPI_Request> requests_;
};

/// A method is "wait" or "test", for what happens between pieces, and "-yield" behind it for the end.
Progress progress_of(const std::string& method) {
  return {.tests_between_pieces = method.starts_with("test"), .yields = method.ends_with("-yield")};
}

void measure_rank(const bench::Arguments& arguments, Order order) {
  bench::Step step{.bytes = arguments.bytes};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &step.ranks);
  bench::pin_if_enough(rank, step.ranks);
  Stepper stepper(step, rank, order, progress_of(arguments.method));
  const auto steps = [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) stepper.step();
  };
  const bench::Measured measured = bench::measure_steps(step, arguments.budget, steps, bench::mpi_largest);
  bench::check_sums(stepper, step);
  if (rank == 0) bench::print(measured);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(nullptr, nullptr);
  const int status = bench::contend(argc, argv,
                                    {{"overlap", [](const bench::Arguments& a) { measure_rank(a, Order::overlap); }},
                                     {"in_turn", [](const bench::Arguments& a) { measure_rank(a, Order::in_turn); }}});
  MPI_Finalize();
  return status;
}
