// What MPI takes for the same work. Compiled once against each MPI that is installed.
#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <comm/ping_pong.hpp>
#include <support/arguments.hpp>
#include <support/measure.hpp>
#include <support/mpi.hpp>
#include <support/process.hpp>

namespace {

using Waiting = bench::MpiWaiting;

struct World {
  int rank = 0;
  int size = 1;
  Waiting waiting = Waiting::library;

  void finish(MPI_Request request) const { bench::wait_for(request, waiting); }

  void barrier() const {
    if (waiting == Waiting::library) {
      MPI_Barrier(MPI_COMM_WORLD);
      return;
    }
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    finish(request);
  }

  /// The mean over the even ranks, which are those that measure.
  [[nodiscard]] double agree(double value) const {
    const double part = rank % 2 == 0 ? value : 0;
    double sum = 0;
    MPI_Request request;
    MPI_Iallreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    finish(request);
    return sum / ((size + 1) / 2);
  }
};

/// MPI_Send and MPI_Recv between private buffers.
class SendChannel {
 public:
  SendChannel(const World& world, std::size_t bytes)
      : world_(world), partner_(bench::partner_of(world.rank)), source_(bytes), received_(bytes) {}

  void send() {
    if (world_.waiting == Waiting::library) {
      MPI_Send(source_.data(), count(), MPI_BYTE, partner_, 0, MPI_COMM_WORLD);
      return;
    }
    MPI_Request request;
    MPI_Isend(source_.data(), count(), MPI_BYTE, partner_, 0, MPI_COMM_WORLD, &request);
    world_.finish(request);
  }
  void receive() {
    if (world_.waiting == Waiting::library) {
      MPI_Recv(received_.data(), count(), MPI_BYTE, partner_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      return;
    }
    MPI_Request request;
    MPI_Irecv(received_.data(), count(), MPI_BYTE, partner_, 0, MPI_COMM_WORLD, &request);
    world_.finish(request);
  }
  std::vector<std::byte>& source() { return source_; }
  std::vector<std::byte>& received() { return received_; }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(source_.size()); }

  const World& world_;
  int partner_;
  std::vector<std::byte> source_;
  std::vector<std::byte> received_;
};

/// MPI_Put of the bytes, MPI_Win_flush, MPI_Put of a flag that the partner polls in its own window.
class PutChannel {
 public:
  PutChannel(const World& world, std::size_t bytes)
      : world_(world), partner_(bench::partner_of(world.rank)), source_(bytes) {
    // Whole pages: MPICH 4.0 loses puts into a window of 72 bytes.
    const std::size_t window_bytes = (kPayload + bytes + kPage - 1) / kPage * kPage;
    MPI_Win_allocate(static_cast<MPI_Aint>(window_bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base_, &window_);
    std::fill_n(base_, kPayload + bytes, std::byte{0});
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    world_.barrier();
  }
  ~PutChannel() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  PutChannel(const PutChannel&) = delete;
  PutChannel& operator=(const PutChannel&) = delete;

  void send() {
    if (!source_.empty()) {
      const int count = static_cast<int>(source_.size());
      MPI_Put(source_.data(), count, MPI_BYTE, partner_, kPayload, count, MPI_BYTE, window_);
      MPI_Win_flush(partner_, window_);
    }
    ++sent_;
    MPI_Put(&sent_, 1, MPI_UINT64_T, partner_, 0, 1, MPI_UINT64_T, window_);
    MPI_Win_flush(partner_, window_);
  }
  void receive() {
    ++expected_;
    std::atomic_ref<std::uint64_t> flag(*reinterpret_cast<std::uint64_t*>(base_));
    int polls = 0;
    // Acquire pairs with the memory barrier in the sender's MPI_Win_flush.
    while (flag.load(std::memory_order_acquire) != expected_) {
      if (world_.waiting == Waiting::yield) sched_yield();
      if (++polls % kPollsPerProgress == 0) progress();
    }
  }
  std::vector<std::byte>& source() { return source_; }
  std::span<std::byte> received() { return {base_ + kPayload, source_.size()}; }

 private:
  static constexpr std::size_t kPayload = 64;
  static constexpr std::size_t kPage = 4096;
  static constexpr int kPollsPerProgress = 64;

  void progress() const {
    int found = 0;
    MPI_Win_sync(window_);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }

  const World& world_;
  int partner_;
  std::vector<std::byte> source_;
  MPI_Win window_{};
  std::byte* base_ = nullptr;
  std::uint64_t sent_ = 0;
  std::uint64_t expected_ = 0;
};

template <class Channel>
bench::Measured ping_pong(const World& world, const bench::Arguments& arguments) {
  Channel channel(world, arguments.bytes);
  return bench::ping_pong(
      channel, world.rank, arguments.budget, [&] { world.barrier(); },
      [&](double value) { return world.agree(value); });
}

bench::Measured barrier(const World& world, const bench::Arguments& arguments) {
  const auto run = [&](std::int64_t n) {
    world.barrier();
    const auto start = bench::Clock::now();
    for (std::int64_t i = 0; i < n; ++i) world.barrier();
    return bench::nanoseconds_since(start);
  };
  return bench::measure(arguments.budget, run, [&](double value) { return world.agree(value); });
}

int from_launcher(const char* open_mpi_name, const char* mpich_name) {
  for (const char* name : {open_mpi_name, mpich_name}) {
    if (const char* value = std::getenv(name)) return std::stoi(value);
  }
  throw std::runtime_error("start this program with mpirun");
}

/// `--method` is send, put, blocking or start, with -yield behind it to wait by yielding.
void run(const bench::Arguments& arguments) {
  World world{from_launcher("OMPI_COMM_WORLD_RANK", "PMI_RANK"), from_launcher("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")};
  std::string method = arguments.method;
  if (const auto suffix = method.rfind("-yield"); suffix != std::string::npos) {
    world.waiting = Waiting::yield;
    method.resize(suffix);
  }
  if (arguments.operation != "start") bench::pin_in_turns(world.rank, world.size);
  MPI_Init(nullptr, nullptr);
  if (arguments.operation == "start") {
    world.barrier();
    if (world.rank == 0) bench::print_ready_now();
  } else {
    bench::Measured measured;
    if (arguments.operation == "barrier")
      measured = barrier(world, arguments);
    else if (arguments.operation == "pairs" && method == "send")
      measured = ping_pong<SendChannel>(world, arguments);
    else if (arguments.operation == "pairs" && method == "put")
      measured = ping_pong<PutChannel>(world, arguments);
    else
      throw std::invalid_argument("no operation '" + arguments.operation + "' by '" + method + "'");
    if (world.rank == 0) bench::print(measured);
  }
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bench::Arguments arguments = bench::parse_arguments(argc, argv);
    bench::limit_lifetime(arguments.limit_seconds);
    run(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "comm_mpi: %s\n", error.what());
    // Without MPI_Finalize the launcher ends the other ranks.
    std::_Exit(1);
  }
}
