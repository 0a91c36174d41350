#include "base/fiber.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(BATON_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <baton/error.hpp>

namespace baton {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A pool with its doorbell, and words that fibers change and wait for.
struct Bench {
  explicit Bench(int workers)
      : pool({.threads = workers, .place = {&doorbell, FutexScope::process, Crowding::crowded}}) {}

  [[nodiscard]] bool wait(std::atomic<int>& word, int value, Deadline deadline) {
    return wait_until(
        {&doorbell, FutexScope::process, Crowding::crowded},
        [&] { return word.load(std::memory_order_seq_cst) >= value; }, deadline, [] {});
  }
  void add_to(std::atomic<int>& word) {
    word.fetch_add(1, std::memory_order_seq_cst);
    doorbell.ring(FutexScope::process);
  }

  Doorbell doorbell;
  FiberPool pool;
};

class Fibers : public ::testing::TestWithParam<int> {};

TEST_P(Fibers, AllBodiesRunToTheirEnd) {
  Bench bench(GetParam());
  std::atomic<int> count{0};
  for (int i = 0; i < 100; ++i) {
    bench.pool.add([&] {
      EXPECT_TRUE(on_fiber());
      ++count;
    });
  }
  EXPECT_FALSE(on_fiber());
  bench.pool.run();
  EXPECT_EQ(count, 100);
}

TEST_P(Fibers, MoreWaitingFibersThanThreadsMakeProgress) {
  // Every fiber must arrive before any may go on: with one thread per fiber in mind, 2 threads would never finish.
#if defined(BATON_SANITIZE_THREAD)
  constexpr int kFibers = 128;  // the sanitizer keeps a trace for each fiber, and has room for few
#else
  constexpr int kFibers = 1152;
#endif
  constexpr int kRounds = 5;
  Bench bench(GetParam());
  std::atomic<int> arrived{0};
  for (int i = 0; i < kFibers; ++i) {
    bench.pool.add([&] {
      for (int round = 1; round <= kRounds; ++round) {
        bench.add_to(arrived);
        EXPECT_TRUE(bench.wait(arrived, round * kFibers, Deadline::after(seconds(60))));
      }
    });
  }
  bench.pool.run();
  EXPECT_EQ(arrived, kFibers * kRounds);
}

TEST_P(Fibers, AWaitEndsAtItsDeadlineWhileOthersRun) {
  Bench bench(GetParam());
  std::atomic<int> never{0};
  std::atomic<bool> stop{false};
  std::atomic<int> turns{0};
  bench.pool.add([&] {
    EXPECT_FALSE(bench.wait(never, 1, Deadline::after(milliseconds(20))));
    stop = true;
  });
  bench.pool.add([&] {
    std::atomic<int> own{0};
    while (!stop) {
      ++own;
      EXPECT_TRUE(bench.wait(own, own, Deadline::after(seconds(60))));
      ++turns;
    }
  });
  bench.pool.run();
  EXPECT_GT(turns, 0);
}

TEST_P(Fibers, AThreadOutsideWakesASleepingPool) {
  Bench bench(GetParam());
  std::atomic<int> word{0};
  bench.pool.add([&] { EXPECT_TRUE(bench.wait(word, 1, Deadline::after(seconds(60)))); });
  std::thread outside([&] {
    while (bench.doorbell.sleepers() == 0) std::this_thread::yield();
    bench.add_to(word);
  });
  bench.pool.run();
  outside.join();
  EXPECT_EQ(word, 1);
}

TEST_P(Fibers, AnExceptionInHandlingStaysWithItsFiber) {
  // The C++ runtime keeps the exceptions being handled per thread; a fiber that waits in a handler must not find
  // another fiber's exception there when it goes on.
  Bench bench(GetParam());
  std::atomic<int> inside{0};
  std::array<std::string, 4> seen;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    bench.pool.add([&, i] {
      try {
        try {
          throw std::runtime_error("error of fiber " + std::to_string(i));
        } catch (...) {
          bench.add_to(inside);
          EXPECT_TRUE(bench.wait(inside, static_cast<int>(seen.size()), Deadline::after(seconds(60))));
          throw;
        }
      } catch (const std::exception& error) {
        seen[i] = error.what();
      }
    });
  }
  bench.pool.run();
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], "error of fiber " + std::to_string(i));
}

TEST_P(Fibers, AFiberAddsOthersToItsThread) {
  Bench bench(GetParam());
  std::atomic<int> children{0};
  for (int i = 0; i < 3; ++i) {
    bench.pool.add([&] {
      const auto thread = std::this_thread::get_id();
      for (int child = 0; child < 10; ++child) {
        spawn_fiber([&, thread] {
          EXPECT_EQ(std::this_thread::get_id(), thread);
          bench.add_to(children);
        });
      }
      EXPECT_TRUE(bench.wait(children, 30, Deadline::after(seconds(60))));
    });
  }
  bench.pool.run();
  EXPECT_EQ(children, 30);
}

/// The order in which fibers get their turns under `seed`.
std::vector<int> turns_under(std::uint64_t seed) {
  Doorbell doorbell;
  FiberPool pool({.threads = 1, .seed = seed, .place = {&doorbell, FutexScope::process, Crowding::spare}});
  std::vector<int> turns;
  for (int i = 0; i < 5; ++i) {
    pool.add([&, i] {
      for (int turn = 0; turn < 6; ++turn) {
        turns.push_back(i);
        yield_fiber();
      }
    });
  }
  pool.run();
  return turns;
}

TEST(LoneFiber, IsTheOnlyOneOfItsThread) {
  EXPECT_TRUE(alone_on_thread());
  Bench bench(1);
  std::atomic<int> steps{0};
  bench.pool.add([&] {
    EXPECT_TRUE(alone_on_thread());
    spawn_fiber([&] {
      EXPECT_FALSE(alone_on_thread());
      bench.add_to(steps);
    });
    EXPECT_FALSE(alone_on_thread());
    // A fiber that looked for a moment here would look at its own thread in vain.
    EXPECT_FALSE(look_for_a_moment([&] { return steps == 1; }));
    EXPECT_TRUE(bench.wait(steps, 1, Deadline::after(seconds(10))));
    yield_fiber();
    EXPECT_TRUE(alone_on_thread());
  });
  bench.pool.run();
}

TEST(LoneFiber, WaitsForOtherThreadsAndItsDeadline) {
  Bench bench(2);
  std::atomic<int> one{0};
  std::atomic<int> two{0};
  const ParkingPlace place{&bench.doorbell, FutexScope::process, Crowding::spare};
  constexpr int kRounds = 1000;
  const auto body = [&](std::atomic<int>& mine, std::atomic<int>& other) {
    for (int round = 1; round <= kRounds; ++round) {
      bench.add_to(mine);
      ASSERT_TRUE(wait_until(
          place, [&] { return other.load(std::memory_order_seq_cst) >= round; }, Deadline::after(seconds(10)), [] {}));
    }
    EXPECT_FALSE(wait_until(
        place, [] { return false; }, Deadline::after(milliseconds(5)), [] {}));
  };
  bench.pool.add([&] { body(one, two); });
  bench.pool.add([&] { body(two, one); });
  bench.pool.run();
}

#if defined(BATON_SANITIZE_ADDRESS)
/// The sanitizer's marks around variables of frames that never return.
TEST(FiberStacks, LeaveNoMarksOfTheSanitizer) {
  const char* mark = nullptr;
  {
    Bench bench(1);
    bench.pool.add([&] {
      const char here = 0;
      mark = &here - 64 * 1024;
      __asan_poison_memory_region(mark, 64);
    });
    bench.pool.run();
  }
  EXPECT_FALSE(__asan_address_is_poisoned(mark));
}
#endif

TEST(SeededFibers, ASeedDecidesEveryTurn) {
  Doorbell doorbell;
  FiberPool pool({.threads = 1, .seed = 1, .place = {&doorbell, FutexScope::process, Crowding::spare}});
  pool.add([] { EXPECT_FALSE(alone_on_thread()); });
  pool.run();
}

TEST(SeededFibers, TheSameSeedGivesTheSameOrderAndOthersGiveOthers) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(turns_under(seed), turns_under(seed));
    orders.insert(turns_under(seed));
  }
  EXPECT_GT(orders.size(), 95U);
}

INSTANTIATE_TEST_SUITE_P(Workers, Fibers, ::testing::Values(1, 2, 4));

TEST(GuestFiber, RunsItsBodyOnTheCallersThreadAsOftenAsAsked) {
  int runs = 0;
  const std::thread::id mine = std::this_thread::get_id();
  GuestFiber guest([&] {
    EXPECT_TRUE(on_fiber());
    EXPECT_EQ(std::this_thread::get_id(), mine);
    ++runs;
  });
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(guest.run());
    EXPECT_FALSE(on_fiber());
    EXPECT_EQ(runs, i);
  }
  const GuestFiber never_run([] { FAIL() << "nobody asked for it"; });
}

TEST(GuestFiber, OneThatWaitsGoesOnInAPool) {
  Bench bench(1);
  std::atomic<int> word{0};
  // Not std::this_thread: compilers take that of a function for the same from its beginning to its end.
  pid_t began = 0;
  pid_t ended = 0;
  pid_t adopter = 0;
  std::string handled;
  std::optional<GuestFiber> guest;
  guest.emplace([&] {
    began = ::gettid();
    try {
      throw std::runtime_error("of the guest");
    } catch (...) {
      EXPECT_TRUE(bench.wait(word, 1, Deadline::within(seconds(30))));
      // It took what it handles along.
      try {
        throw;
      } catch (const std::runtime_error& error) {
        handled = error.what();
      }
    }
    ended = ::gettid();
  });
  try {
    throw std::runtime_error("of the caller");
  } catch (...) {
    EXPECT_FALSE(guest->run());
    try {
      throw;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "of the caller");
    }
  }
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  std::thread pool([&] {
    adopter = ::gettid();
    bench.pool.add([&] {
      adopt_fiber(std::move(*guest));
      bench.add_to(word);
    });
    bench.pool.run();
  });
  pool.join();
  EXPECT_EQ(began, ::gettid());
  EXPECT_EQ(ended, adopter);
  EXPECT_EQ(handled, "of the guest");
}

#if !defined(BATON_SANITIZE_ADDRESS) && !defined(BATON_SANITIZE_THREAD)  // which need more addresses than that
TEST(FiberPool, RunsNothingIfTheSystemGivesTooFewThreads) {
  const auto try_it = [] {
    Doorbell doorbell;
    FiberPool pool({.threads = 1000, .place = {&doorbell, FutexScope::process, Crowding::crowded}});
    std::atomic<int> ran{0};
    for (int i = 0; i < 1000; ++i) pool.add([&] { ++ran; });
    const rlimit limit{.rlim_cur = 1U << 30U, .rlim_max = 1U << 30U};  // stacks of 1000 threads take 8 times as much
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(2);
    try {
      pool.run();
    } catch (const Error& error) {
      std::_Exit(error.code() == Code::system && ran == 0 ? 0 : 3);
    }
    std::_Exit(4);
  };
  EXPECT_EXIT(try_it(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace baton
