// Ranks in one process beside programs that keep the processors busy.
#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <baton/domain.hpp>
#include <baton/inproc.hpp>

#include "base/processors.hpp"

namespace baton::test {
namespace {

using Clock = std::chrono::steady_clock;

/// A busy thread on each processor of this process, for as long as it lives.
class BusyProcessors {
 public:
  BusyProcessors() {
    cpu_set_t usable;
    sched_getaffinity(0, sizeof usable, &usable);
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(static_cast<std::size_t>(processor), &usable)) continue;
      threads_.emplace_back([this, processor] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(processor), &one);
        sched_setaffinity(0, sizeof one, &one);
        while (!done_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  BusyProcessors(const BusyProcessors&) = delete;
  BusyProcessors& operator=(const BusyProcessors&) = delete;
  ~BusyProcessors() { done_ = true; }

 private:
  std::atomic<bool> done_{false};
  std::vector<std::jthread> threads_;
};

double microseconds_since(Clock::time_point begin, int operations) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / operations;
}

/// Two threads that send a byte to and fro, and sleep meanwhile.
[[maybe_unused]] double hand_over_asleep() {
  constexpr int kRounds = 300;
  int there[2];
  int back[2];
  if (::pipe(there) != 0 || ::pipe(back) != 0) throw std::runtime_error("no pipe");
  char byte = 0;
  const Clock::time_point begin = Clock::now();
  {
    const std::jthread other([&] {
      char passed = 0;
      while (::read(there[0], &passed, 1) == 1) {
        if (::write(back[1], &passed, 1) != 1) break;
      }
    });
    for (int i = 0; i < kRounds; ++i) {
      if (::write(there[1], &byte, 1) != 1 || ::read(back[0], &byte, 1) != 1) break;
    }
    ::close(there[1]);
  }
  for (const int end : {there[0], back[0], back[1]}) ::close(end);
  return microseconds_since(begin, 2 * kRounds);
}

[[maybe_unused]] double barrier_of_fibers() {
  constexpr int kBarriers = 500;
  double taken = 0;
  run_ranks(8, [&](Domain me) {
    me.barrier();
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kBarriers; ++i) me.barrier();
    if (me.rank() == 0) taken = microseconds_since(begin, kBarriers);
  });
  return taken;
}

#if !defined(BATON_SANITIZE_THREAD)  // which slows fibers down more than pipes
// A barrier of ranks in one process waits for another thread about once. Where others have work that should take no
// longer than waking a thread that sleeps. How long it takes is reported, not asserted: `bench/run comm --beside`
// compares.
TEST(RanksInOneProcess, MeetBesideBusyProcessors) {
  if (usable_processors() < 2) GTEST_SKIP() << "one processor: there is one thread";
  const BusyProcessors busy;
  RecordProperty("hand_over_us", std::to_string(hand_over_asleep()));
  RecordProperty("barrier_us", std::to_string(barrier_of_fibers()));
}
#endif

}  // namespace
}  // namespace baton::test
