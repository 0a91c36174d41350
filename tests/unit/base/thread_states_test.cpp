#include "base/thread_states.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(ThreadStates, AreReadFromWhatTheSystemWrites) {
  const auto status = [](std::string_view state) {
    return "Name:\tx\nUmask:\t0022\nState:\t" + std::string(state) +
           "\nThreads:\t3\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n";
  };
  EXPECT_EQ(switches_of_sleeper(status("S (sleeping)")), 42U);
  for (const char* awake : {"R (running)", "D (disk sleep)", "T (stopped)", "t (tracing stop)", "Z (zombie)"}) {
    EXPECT_FALSE(switches_of_sleeper(status(awake))) << awake;
  }
  EXPECT_EQ(switches_of_sleeper("State:\tS (sleeping)\n"), 0U) << "a system that does not count";
  EXPECT_FALSE(switches_of_sleeper("Name:\tState: S\n")) << "names may be anything";
  EXPECT_FALSE(switches_of_sleeper(""));
}

TEST(ThreadStates, OneThatWasWokenAndSleepsAgainHasBeenSwitched) {
  std::binary_semaphore call(0);
  std::atomic<pid_t> id{0};
  std::atomic<bool> stop{false};
  std::jthread sleeper([&] {
    id = ::gettid();
    while (!stop) call.acquire();
  });
  // All other threads of this process count as well; the one that is looked for is told by its number.
  const auto when_it_sleeps = [&] {
    while (true) {
      std::vector<SleepingThread> threads;
      static_cast<void>(append_sleeping_threads(::getpid(), ::gettid(), threads));
      const auto found = std::ranges::find(threads, id.load(), &SleepingThread::thread);
      if (id != 0 && found != threads.end()) return found->switches;
    }
  };
  const std::uint64_t first = when_it_sleeps();
  EXPECT_EQ(when_it_sleeps(), first);
  call.release();
  while (when_it_sleeps() == first) continue;
  stop = true;
  call.release();
}

TEST(ThreadStates, OneThatRunsMakesItFalse) {
  std::atomic<bool> stop{false};
  std::atomic<bool> runs{false};
  std::jthread runner([&] {
    runs = true;
    while (!stop) continue;
  });
  while (!runs) std::this_thread::yield();
  std::vector<SleepingThread> threads;
  EXPECT_FALSE(append_sleeping_threads(::getpid(), ::gettid(), threads));
  stop = true;
  EXPECT_FALSE(append_sleeping_threads(-1, 0, threads)) << "no such process";
}

}  // namespace
}  // namespace baton
