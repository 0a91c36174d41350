// The least that communication can cost on this machine: hand-offs, copies, switches and starts without any library.
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#include <boost/context/fiber.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <support/arguments.hpp>
#include <support/forked_ranks.hpp>
#include <support/measure.hpp>
#include <support/pattern.hpp>
#include <support/process.hpp>

namespace {

struct alignas(bench::kCacheLine) Line {
  std::atomic<std::uint32_t> value{0};
};

struct Shared {
  std::array<Line, 2> inbox;
  bench::Meeting meeting;
};

enum class Waiting { spin, yield };

template <Waiting waiting>
void wait_for(const Line& line, std::uint32_t value) {
  // Acquire pairs with the release store in hand_over().
  while (line.value.load(std::memory_order_acquire) != value) {
    if constexpr (waiting == Waiting::yield) sched_yield();
  }
}

void hand_over(Line& line, std::uint32_t value) {
  // Pairs with the acquire load in wait_for().
  line.value.store(value, std::memory_order_release);
}

/// Two processes take turns; each does `work()` and hands over. The time of one turn.
template <Waiting waiting, class Work>
void take_turns(Shared& shared, int rank, std::chrono::nanoseconds budget, Work&& work) {
  Line& mine = shared.inbox[static_cast<std::size_t>(rank)];
  Line& other = shared.inbox[static_cast<std::size_t>(1 - rank)];
  std::uint32_t turn = 0;
  const auto run = [&](std::int64_t n) {
    shared.meeting.barrier(2);
    const auto start = bench::Clock::now();
    for (std::int64_t i = 0; i < n; ++i) {
      ++turn;
      if (rank == 1) wait_for<waiting>(mine, turn);
      work();
      hand_over(other, turn);
      if (rank == 0) wait_for<waiting>(mine, turn);
    }
    return bench::nanoseconds_since(start) / 2;
  };
  const auto agree = [&](double value) { return shared.meeting.mean_of_even(rank, 2, value); };
  const bench::Measured measured = bench::measure(budget, run, agree);
  if (rank == 0) bench::print(measured);
}

/// One cache line from one processor to another.
void handoff(Shared& shared, int rank, const bench::Arguments& arguments) {
  const auto nothing = [] {};
  if (bench::pin_in_turns(rank, 2)) {
    take_turns<Waiting::spin>(shared, rank, arguments.budget, nothing);
  } else {
    take_turns<Waiting::yield>(shared, rank, arguments.budget, nothing);
  }
}

/// From one process to the next of `ranks` on one processor that do nothing but sched_yield. More of them find less of
/// theirs in the caches when their turn comes.
void yield(Shared& shared, int rank, const bench::Arguments& arguments) {
  bench::pin_to(bench::usable_processors().front());
  const auto run = [&](std::int64_t n) {
    shared.meeting.barrier(arguments.ranks);
    const auto start = bench::Clock::now();
    for (std::int64_t i = 0; i < n; ++i) sched_yield();
    return bench::nanoseconds_since(start) / arguments.ranks;
  };
  const auto agree = [&](double value) { return shared.meeting.mean_of_even(rank, arguments.ranks, value); };
  const bench::Measured measured = bench::measure(arguments.budget, run, agree);
  if (rank == 0) bench::print(measured);
}

/// memcpy between two private buffers of each process, then a hand-off: the working set of a ping-pong of puts.
void copy(Shared& shared, int rank, const bench::Arguments& arguments) {
  const bool pinned = bench::pin_in_turns(rank, 2);
  std::vector<std::byte> source(arguments.bytes);
  std::vector<std::byte> target(arguments.bytes);
  bench::fill_pattern(source, rank, 0);
  const auto work = [&] {
    std::memcpy(target.data(), source.data(), source.size());
    // The copy is used: the compiler may not drop it.
    asm volatile("" : : "r"(target.data()) : "memory");
  };
  if (pinned) {
    take_turns<Waiting::spin>(shared, rank, arguments.budget, work);
  } else {
    take_turns<Waiting::yield>(shared, rank, arguments.budget, work);
  }
  bench::check_pattern(target, rank, 0);
}

/// One switch between fibers of a thread; a resume and the return from it are two.
void fiber(const bench::Arguments& arguments) {
  namespace context = boost::context;
  bool stop = false;
  context::fiber other([&stop](context::fiber&& caller) {
    while (!stop) caller = std::move(caller).resume();
    return std::move(caller);
  });
  const auto run = [&](std::int64_t n) {
    const auto start = bench::Clock::now();
    for (std::int64_t i = 0; i < n; ++i) other = std::move(other).resume();
    return bench::nanoseconds_since(start) / 2;
  };
  bench::print(bench::measure(arguments.budget, run, [](double value) { return value; }));
  stop = true;
  other = std::move(other).resume();
}

/// Starts this program `ranks` times; each copy writes one byte when it runs.
void start(const bench::Arguments& arguments) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, 0) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::array<std::string, 5> words{"comm_floor", "--operation", "started", "--method", std::to_string(pipe_ends[1])};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  for (int rank = 0; rank < arguments.ranks; ++rank) {
    pid_t child = 0;
    const int status = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
    if (status != 0) throw std::system_error(status, std::generic_category(), "spawn");
  }
  for (int arrived = 0; arrived < arguments.ranks; ++arrived) {
    char byte = 0;
    if (read(pipe_ends[0], &byte, 1) != 1) throw std::runtime_error("a process did not start");
  }
  bench::print_ready_now();
  while (wait(nullptr) > 0) {
  }
}

int started(const bench::Arguments& arguments) { return write(std::stoi(arguments.method), "r", 1) == 1 ? 0 : 1; }

}  // namespace

int main(int argc, char** argv) try {
  const bench::Arguments arguments = bench::parse_arguments(argc, argv);
  bench::limit_lifetime(arguments.limit_seconds);
  const std::string& operation = arguments.operation;
  if (operation == "started") return started(arguments);
  if (operation == "start") return start(arguments), 0;
  if (operation == "fiber") return fiber(arguments), 0;

  using Body = void (*)(Shared&, int, const bench::Arguments&);
  const Body body = operation == "handoff" ? handoff
                    : operation == "yield" ? yield
                    : operation == "copy"  ? copy
                                           : nullptr;
  if (body == nullptr) throw std::invalid_argument("no operation '" + operation + "'");
  const bench::SharedMemory memory(sizeof(Shared));
  Shared* shared = new (memory.data()) Shared;
  const int processes = body == yield ? arguments.ranks : 2;
  return bench::fork_ranks(processes, arguments.limit_seconds, [&](int rank) { body(*shared, rank, arguments); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "comm_floor: %s\n", error.what());
  return 1;
}
