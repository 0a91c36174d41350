// What MPI takes for the same work. Compiled once against each MPI that is installed.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include <collectives/collective.hpp>
#include <support/arguments.hpp>
#include <support/measure.hpp>
#include <support/mpi.hpp>
#include <support/process.hpp>

namespace {

using Waiting = bench::MpiWaiting;

class Collectives {
 public:
  Collectives(const bench::Sizes& sizes, int ranks, Waiting waiting, bool in_place)
      : block_(static_cast<int>(sizes.block)), waiting_(waiting), in_place_(in_place), in_(sizes.in) {
    if (!in_place) out_.resize(sizes.out);
    counts_.assign(static_cast<std::size_t>(ranks), block_);
    for (int rank = 0; rank < ranks; ++rank) places_.push_back(rank * block_);
  }

  [[nodiscard]] std::span<float> in() { return in_; }
  [[nodiscard]] std::span<float> out() { return in_place_ ? std::span(in_) : std::span(out_); }

  void run(const std::string& operation, int root) {
    if (waiting_ == Waiting::library) return run_blocking(operation, root);
    bench::wait_for(start(operation, root), waiting_);
  }

 private:
  void run_blocking(const std::string& operation, int root) {
    const MPI_Comm world = MPI_COMM_WORLD;
    float* in = in_.data();
    float* out = out_.data();
    if (operation == "barrier") MPI_Barrier(world);
    if (operation == "broadcast") MPI_Bcast(in, block_, MPI_FLOAT, root, world);
    if (operation == "reduce") MPI_Reduce(in, out, block_, MPI_FLOAT, MPI_SUM, root, world);
    if (operation == "allreduce") MPI_Allreduce(MPI_IN_PLACE, in, block_, MPI_FLOAT, MPI_SUM, world);
    if (operation == "reduce_scatter") MPI_Reduce_scatter_block(in, out, block_, MPI_FLOAT, MPI_SUM, world);
    if (operation == "allgather") MPI_Allgather(in, block_, MPI_FLOAT, out, block_, MPI_FLOAT, world);
    if (operation == "gather") MPI_Gather(in, block_, MPI_FLOAT, out, block_, MPI_FLOAT, root, world);
    if (operation == "scatter") MPI_Scatter(in, block_, MPI_FLOAT, out, block_, MPI_FLOAT, root, world);
    if (operation == "all_to_all") MPI_Alltoall(in, block_, MPI_FLOAT, out, block_, MPI_FLOAT, world);
    if (operation == "all_to_all_v") {
      MPI_Alltoallv(in, counts_.data(), places_.data(), MPI_FLOAT, out, counts_.data(), places_.data(), MPI_FLOAT,
                    world);
    }
  }

  [[nodiscard]] MPI_Request start(const std::string& operation, int root) {
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    float* in = in_.data();
    float* out = out_.data();
    if (operation == "barrier") MPI_Ibarrier(world, &request);
    if (operation == "broadcast") MPI_Ibcast(in, block_, MPI_FLOAT, root, world, &request);
    if (operation == "reduce") MPI_Ireduce(in, out, block_, MPI_FLOAT, MPI_SUM, root, world, &request);
    if (operation == "allreduce") MPI_Iallreduce(MPI_IN_PLACE, in, block_, MPI_FLOAT, MPI_SUM, world, &request);
    if (operation == "reduce_scatter") MPI_Ireduce_scatter_block(in, out, block_, MPI_FLOAT, MPI_SUM, world, &request);
    if (operation == "allgather") MPI_Iallgather(in, block_, MPI_FLOAT, out, block_, MPI_FLOAT, world, &request);
    if (operation == "gather") MPI_Igather(in, block_, MPI_FLOAT, out, block_, MPI_FLOAT, root, world, &request);
    if (operation == "scatter") MPI_Iscatter(in, block_, MPI_FLOAT, out, block_, MPI_FLOAT, root, world, &request);
    if (operation == "all_to_all") MPI_Ialltoall(in, block_, MPI_FLOAT, out, block_, MPI_FLOAT, world, &request);
    if (operation == "all_to_all_v") {
      MPI_Ialltoallv(in, counts_.data(), places_.data(), MPI_FLOAT, out, counts_.data(), places_.data(), MPI_FLOAT,
                     world, &request);
    }
    return request;
  }

  int block_;
  Waiting waiting_;
  bool in_place_;
  std::vector<float> in_;
  std::vector<float> out_;
  std::vector<int> counts_;
  std::vector<int> places_;
};

}  // namespace

int main(int argc, char** argv) try {
  const bench::Arguments arguments = bench::parse_arguments(argc, argv);
  bench::limit_lifetime(arguments.limit_seconds);
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bench::pin_in_turns(rank, size);
  const bench::Sizes sizes = bench::sizes_of(arguments.operation, arguments.bytes, size);
  const bool in_place = arguments.operation == "allreduce" || arguments.operation == "broadcast";
  Collectives library(sizes, size, bench::mpi_waiting_of(arguments.method), in_place);
  const bench::Measured measured =
      bench::measure_collective(library, arguments.operation, sizes, rank, size, arguments.budget, bench::mpi_largest);
  if (rank == 0) bench::print(measured);
  MPI_Finalize();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "collectives_mpi: %s\n", error.what());
  return 1;
}
