// Windows in memory of devices, on a platform that pretends: what members tell each other, and when each part ends.
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/comm_context.h>
#include <baton/chip.hpp>
#include <baton/domain.hpp>
#include <baton/error.hpp>
#include <baton/inproc.hpp>

namespace baton {
namespace {

using testing::HasSubstr;

constexpr int kRanks = 4;

class ChipWindows : public testing::Test {
 protected:
  void SetUp() override { call<void(int)>("windows_fail_at")(-1); }
  void TearDown() override {
    EXPECT_EQ(call<int()>("windows_violations")(), 0) << "a part ended while a peer reached it";
    EXPECT_EQ(call<int()>("windows_open")(), 0);
  }
  template <class Function>
  Function* call(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }
  static ChipOptions options() { return {.platform = PLATFORM_WINDOWS, .output_heap_bytes = 4096}; }

 private:
  void* library_ = ::dlopen(PLATFORM_WINDOWS, RTLD_NOW | RTLD_LOCAL);
};

TEST_F(ChipWindows, LieOnTheDevicesOfAllMembersAndTheContextSaysWhere) {
  run_ranks(kRanks, [](Domain me) {
    Chip chip(me, options());
    const ChipWindow cells = chip.window(me, "cells", 64 * sizeof(std::int32_t));
    EXPECT_FALSE(cells.rings());
    // On this platform the host sees what a kernel would.
    const CommContext& context = *cells.context();
    EXPECT_EQ(context.workSpace, reinterpret_cast<std::uint64_t>(&context));
    EXPECT_EQ(context.rankId, static_cast<std::uint32_t>(me.rank()));
    EXPECT_EQ(context.rankNum, static_cast<std::uint32_t>(kRanks));
    EXPECT_EQ(context.winSize, cells.bytes());
    for (int rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(context.windowsIn[rank], reinterpret_cast<std::uint64_t>(cells.part(rank)));
    }
    EXPECT_EQ(cells.local(), cells.part(me.rank()));
    EXPECT_EQ(cells.signal(4), 0);
    me.barrier();
    const std::int32_t value = 10 + me.rank();
    std::memcpy(cells.part((me.rank() + 1) % kRanks) + 4, &value, sizeof value);
    me.barrier();
    EXPECT_EQ(cells.signal(4), 10 + (me.rank() + kRanks - 1) % kRanks);
    std::int32_t back = 0;
    cells.copy_in(8, &value, sizeof value);
    cells.copy_out(&back, 8, sizeof back);
    EXPECT_EQ(back, value);
  });
}

TEST_F(ChipWindows, CheckWhatIsAskedOfThem) {
  run_ranks(2, [](Domain me) {
    Chip chip(me, options());
    const ChipWindow cells = chip.window(me, "cells", 64);
    std::int32_t word = 0;
    EXPECT_THROW(cells.copy_in(61, &word, sizeof word), Error);
    EXPECT_THROW(cells.copy_out(&word, 65, 0), Error);
    EXPECT_THROW(static_cast<void>(cells.signal(2)), Error);
    EXPECT_THROW(static_cast<void>(cells.part(2)), Error);
    EXPECT_THROW(static_cast<void>(cells.part(-1)), Error);
    EXPECT_THROW(static_cast<void>(ChipWindow().bytes()), Error);
  });
  Chip alone(options());
  EXPECT_THROW(static_cast<void>(alone.window(Domain(), "cells", 64)), Error);
}

TEST_F(ChipWindows, FailForAllMembersWhereOneFailsAndWorkAgainAfterwards) {
  call<void(int)>("windows_fail_at")(2);
  std::mutex mutex;
  std::vector<std::string> said(kRanks);
  run_ranks(kRanks, [&](Domain me) {
    Chip chip(me, options());
    try {
      static_cast<void>(chip.window(me, "cells", 64));
      ADD_FAILURE() << "rank " << me.rank() << " has a window";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::out_of_memory);
      const std::lock_guard lock(mutex);
      said[static_cast<std::size_t>(me.rank())] = error.what();
    }
    me.barrier();
    if (me.rank() == 0) call<void(int)>("windows_fail_at")(-1);
    me.barrier();
    EXPECT_EQ(chip.window(me, "cells", 64).bytes(), 64U);
  });
  EXPECT_THAT(said[2], HasSubstr("the device is full"));
  for (const int other : {0, 1, 3}) {
    EXPECT_THAT(said[static_cast<std::size_t>(other)],
                HasSubstr("rank 2 of \"world\" could not open \"cells\": the device is full"));
  }
}

TEST_F(ChipWindows, EndWhenNobodyReachesThemAnyMore) {
  run_ranks(kRanks, [&](Domain me) {
    Chip chip(me, options());
    for (int round = 0; round < 3; ++round) {
      ChipWindow mine = chip.window(me, "round", 64);
      ChipWindow kept = chip.window(me, "kept", 64);
      // Ranks let go of them in different orders, and nobody waits for that.
      if (me.rank() % 2 == 0) mine = ChipWindow();
      me.barrier();
      kept = ChipWindow();
      mine = ChipWindow();
      me.barrier();
      chip.run([](Graph&) {});  // sweeps
    }
    me.barrier();
    if (me.rank() == 0) {
      EXPECT_EQ(call<int()>("windows_open")(), 0);
    }
  });
}

TEST_F(ChipWindows, OfAMemberThatFailsDoNotKeepTheOthers) {
  std::atomic<int> ended{0};
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THROW(run_ranks(3,
                         [&](Domain me) {
                           Chip chip(me, options());
                           // It leaves the window when it unwinds; the job learns of its failure after that.
                           const ChipWindow cells = chip.window(me, "cells", 64);
                           if (me.rank() == 1) throw std::runtime_error("rank 1 has enough");
                           ++ended;
                         }),
               std::runtime_error);
  EXPECT_EQ(ended, 2);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST_F(ChipWindows, OfSimulatedChipsAreThoseOfTheirDomain) {
  run_ranks(2, [](Domain me) {
    Chip chip(me, {.clusters = 1, .output_heap_bytes = 1U << 16U});
    const ChipWindow cells = chip.window(me, "cells", 64);
    EXPECT_TRUE(cells.rings());
    EXPECT_EQ(cells.context()->windowsIn[me.rank()], reinterpret_cast<std::uint64_t>(cells.local()));
    const std::int32_t value = 7;
    cells.copy_in(0, &value, sizeof value);
    EXPECT_EQ(cells.signal(0), 7);
    EXPECT_THROW(static_cast<void>(cells.signal(63)), Error);
  });
}

}  // namespace
}  // namespace baton
