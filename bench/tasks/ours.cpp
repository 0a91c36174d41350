// Tasks on a simulated chip with its defaults: patterns, and what must not grow with what is in use.
#include <time.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include <pto_async_kernel_api.h>
#include <baton_kernel.hpp>

#include "tasks/ours_pattern.hpp"

namespace {

using baton::Access;
using baton::Graph;
using baton::Tensor;
using bench::Arguments;

/// (view, flag): uses the view until the flag is 1.
void hold(std::int64_t* args) {
  AsyncCtx context = get_async_ctx(args);
  save_expected_notification_counter(context, reinterpret_cast<std::int32_t*>(args[1]), 1);
}
void look(std::int64_t* /*args*/) {}

constexpr baton::Kernel kHold = {"hold", hold, nullptr, BATON_CORE_VECTOR, 0};
constexpr baton::Kernel kLook = {"look", look, nullptr, BATON_CORE_VECTOR, 0};

std::int32_t* word_of(const Tensor& tensor) { return reinterpret_cast<std::int32_t*>(tensor.address()); }

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

void pattern(const Arguments& arguments) {
  const bench::Pattern pattern = bench::pattern_named(arguments.pattern, arguments.tasks);
  baton::Chip chip;
  bench::PatternOnChip on_chip(chip, pattern);
  if (arguments.operation == "replay") {
    baton::CapturedGraph graph = on_chip.capture(pattern);
    return bench::measure_pattern(arguments, pattern,
                                  [&](const bench::Pattern&) { return on_chip.replay_once(graph); });
  }
  bench::measure_pattern(arguments, pattern, [&](const bench::Pattern& what) { return on_chip.run_once(what); });
}

}  // namespace

BATON_KERNEL(raise_flag, baton::InOut<std::int32_t> flag) {
  pto::comm::Signal signal(flag.data());
  pto::comm::TNOTIFY(signal, 1, pto::comm::NotifyOp::AtomicAdd);
}

namespace {

/// The time of a submission that uses one view of a buffer, of which tasks that are not complete hold `live` others.
void views(const Arguments& arguments) {
  const auto live = static_cast<std::int64_t>(arguments.live);
  constexpr std::int64_t kLength = 8;
  baton::Chip chip;
  const Tensor buffer = chip.alloc<std::int64_t>({2 * live * kLength});
  const Tensor flags = chip.alloc<std::int32_t>({live});
  // In turns: one that is held, one that is looked at.
  std::vector<Tensor> held, free;
  for (std::int64_t i = 0; i < live; ++i) {
    held.push_back(buffer.slice(2 * i * kLength, (2 * i + 1) * kLength));
    free.push_back(buffer.slice((2 * i + 1) * kLength, (2 * i + 2) * kLength));
  }
  chip.run([&](Graph& graph) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      graph.submit(kHold, {{Access::inout, held[i]}, word_of(flags) + i});
    }
    // All views are known, and their holders deferred, before the clock starts.
    baton::TaskId last = 0;
    for (const Tensor& view : free) last = graph.submit(kLook, {{Access::in, view}});
    graph.wait(last);
    std::size_t next = 0;
    const auto run = [&](std::int64_t count) {
      const auto start = bench::Clock::now();
      for (std::int64_t i = 0; i < count; ++i) {
        graph.submit(kLook, {{Access::in, free[next]}});
        next = next + 1 == free.size() ? 0 : next + 1;
      }
      return bench::nanoseconds_since(start);
    };
    bench::print(bench::measure(arguments.budget, run, [](double x) { return x; }));
    for (std::int64_t i = 0; i < live; ++i) graph.submit(raise_flag, flags.slice(i, i + 1));
  });
}

std::uint64_t most_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes << 10U;
  }
  throw std::runtime_error("/proc/self/status says nothing of VmHWM");
}

/// The most memory that a stream of tasks, submitted by one orchestration, occupies.
void memory(const Arguments& arguments) {
  constexpr std::size_t kRound = 100'000;
  const bench::Pattern pattern = bench::pattern_named(arguments.pattern, kRound);
  baton::Chip chip;
  const bench::PatternOnChip on_chip(chip, pattern);
  chip.run([&](Graph& graph) {
    for (std::size_t i = 0; i < arguments.tasks; ++i) on_chip.submit(graph, pattern.tasks[i % kRound]);
  });
  bench::print_bytes(most_resident_bytes(), static_cast<std::int64_t>(arguments.tasks));
}

double processor_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// The processor time that the whole process takes while `live` deferred tasks wait for a second.
void deferred(const Arguments& arguments) {
  const auto live = static_cast<std::int64_t>(arguments.live);
  baton::Chip chip;
  const Tensor flags = chip.alloc<std::int32_t>({live + 1});
  double used = 0;
  chip.run([&](Graph& graph) {
    std::vector<Tensor> tokens;
    for (std::int64_t i = 0; i < live; ++i) tokens.push_back(graph.submit_notification_wait(word_of(flags) + i, 1));
    // So that those before it have begun.
    graph.wait(graph.submit(raise_flag, flags.slice(live, live + 1)));
    const double before = processor_time_ns();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    used = processor_time_ns() - before;
    for (std::int64_t i = 0; i < live; ++i) graph.submit(raise_flag, flags.slice(i, i + 1));
  });
  std::vector<std::int32_t> raised(arguments.live + 1);
  chip.copy_out<std::int32_t>(flags, raised);
  for (const std::int32_t flag : raised) require(flag == 1, "a flag was not raised once");
  bench::print({used, 1});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv, [](const Arguments& arguments) {
    if (arguments.operation == "views")
      views(arguments);
    else if (arguments.operation == "memory")
      memory(arguments);
    else if (arguments.operation == "deferred")
      deferred(arguments);
    else
      pattern(arguments);
  });
}
