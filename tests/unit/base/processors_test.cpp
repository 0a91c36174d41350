#include "base/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <initializer_list>

#include "base/processor_mask.hpp"
#include "child_process.hpp"
#include "expect_error.hpp"
#include "fake_kernel_files.hpp"

namespace baton {
namespace {

TEST(CountProcessors, IsAtLeastOneAndAtMostWhatTheMachineHas) {
  EXPECT_GE(count_processors(), 1);
  EXPECT_GE(usable_processors(), 1);
  EXPECT_EQ(usable_processors(), usable_processors());
}

TEST(CountProcessors, FollowsTheAffinity) {
  const FakeKernelFiles no_groups;
  ChildProcess child([&] {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    if (count_processors(no_groups.files()) != CPU_COUNT(&allowed)) return 2;
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    CPU_ZERO(&allowed);
    CPU_SET(first, &allowed);
    if (::sched_setaffinity(0, sizeof allowed, &allowed) != 0) return 3;
    return count_processors(no_groups.files()) == 1 ? 0 : 4;
  });
  EXPECT_EQ(child.reap(), 0);
}

TEST(CountProcessors, AGroupCanOnlyLowerIt) {
  const FakeKernelFiles kernel;
  const int allowed = count_processors(kernel.files());
  kernel.write("/proc/self/cgroup", "0::/\n");
  kernel.write("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  kernel.write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(count_processors(kernel.files()), 1);
  kernel.write("/sys/fs/cgroup/cpu.max", "99900000 100000\n");
  EXPECT_EQ(count_processors(kernel.files()), allowed);
}

TEST(UsableProcessorsDeathTest, TheOptionOverrides) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("BATON_PROCESSORS", "123", 1);
        std::_Exit(usable_processors() == 123 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

ProcessorMask mask_of(std::initializer_list<std::size_t> processors) {
  ProcessorMask mask;
  for (const std::size_t processor : processors) mask.words[processor / 64] |= std::uint64_t{1} << (processor % 64);
  return mask;
}

TEST(ProcessorMask, IsSharedOutAmongEqualsWithoutARest) {
  // Across words, with gaps.
  const ProcessorMask all = mask_of({1, 2, 63, 64, 130, 131, 1023});
  EXPECT_EQ(all.share(0, 1).words, all.words);
  EXPECT_EQ(all.share(0, 3).words, mask_of({1, 2}).words);
  EXPECT_EQ(all.share(1, 3).words, mask_of({63, 64}).words);
  EXPECT_EQ(all.share(2, 3).words, mask_of({130, 131, 1023}).words);
  for (int parts = 1; parts <= all.count(); ++parts) {
    ProcessorMask given;
    int count = 0;
    for (int part = 0; part < parts; ++part) {
      const ProcessorMask share = all.share(part, parts);
      EXPECT_GE(share.count(), all.count() / parts);
      count += share.count();
      given |= share;
    }
    EXPECT_EQ(given.words, all.words) << parts << " parts";
    EXPECT_EQ(count, all.count()) << parts << " parts";
  }
}

TEST(ProcessorMask, PartsThatOutnumberTheProcessorsTakeThemInTurns) {
  const ProcessorMask all = mask_of({3, 70});
  for (int part = 0; part < 5; ++part) {
    EXPECT_EQ(all.share(part, 5).words, (part % 2 == 0 ? mask_of({3}) : mask_of({70})).words) << part;
  }
}

TEST(ProcessorMask, OfNoneEveryPartIsNone) { EXPECT_EQ(ProcessorMask().share(1, 2).count(), 0); }

TEST(ProcessorMask, AProcessStaysOnIt) {
  ChildProcess child([] {
    const ProcessorMask last =
        allowed_processors().share(allowed_processors().count() - 1, allowed_processors().count());
    return stay_on(last) && allowed_processors().words == last.words ? 0 : 1;
  });
  EXPECT_EQ(child.reap(), 0);
}

constexpr const char* kMeminfo =
    "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\nSwapTotal: 300 kB\nSwapFree:  200 "
    "kB\nHugePages_Total:  0\n";

TEST(MemoryLimits, ReadsTheMachine) {
  const FakeKernelFiles kernel;
  kernel.write("/proc/meminfo", kMeminfo);
  const MemoryLimits limits = memory_limits(kernel.files());
  EXPECT_EQ(limits.total, 1000U * 1024);
  EXPECT_EQ(limits.available, 600U * 1024);
  EXPECT_EQ(limits.swap_free, 200U * 1024);
  EXPECT_EQ(limits.cgroup_limit, std::nullopt);
  EXPECT_EQ(limits.cgroup_used, 0U);
  EXPECT_EQ(limits.obtainable(), 800U * 1024);
}

TEST(MemoryLimits, TheGroupsRemainderCountsIfItIsLess) {
  const FakeKernelFiles kernel;
  kernel.write("/proc/meminfo", kMeminfo);
  kernel.write("/proc/self/cgroup", "0::/\n");
  kernel.write("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  kernel.write("/sys/fs/cgroup/memory.max", "500000\n");
  kernel.write("/sys/fs/cgroup/memory.current", "100000\n");
  const MemoryLimits limits = memory_limits(kernel.files());
  EXPECT_EQ(limits.cgroup_limit, 500'000U);
  EXPECT_EQ(limits.cgroup_used, 100'000U);
  EXPECT_EQ(limits.obtainable(), 400'000U);
  kernel.write("/sys/fs/cgroup/memory.max", "5000000\n");
  EXPECT_EQ(memory_limits(kernel.files()).obtainable(), 800U * 1024);
}

TEST(MemoryLimits, AreReadAnew) {
  const FakeKernelFiles kernel;
  kernel.write("/proc/meminfo", kMeminfo);
  EXPECT_EQ(memory_limits(kernel.files()).obtainable(), 800U * 1024);
  kernel.write("/proc/meminfo", "MemAvailable: 1 kB\n");
  EXPECT_EQ(memory_limits(kernel.files()).obtainable(), 1024U);
}

TEST(MemoryLimits, OfThisMachineAreSane) {
  const MemoryLimits limits = memory_limits();
  EXPECT_GT(limits.total, 0U);
  EXPECT_GT(limits.available, 0U);
  EXPECT_LE(limits.available, limits.total);
  EXPECT_GT(memory_obtainable(), 0U);
}

TEST(MemoryLimits, AnUnreadableMachineIsAnError) {
  const FakeKernelFiles kernel;
  const auto error = error_of([&] { static_cast<void>(memory_limits(kernel.files())); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::system);
}

}  // namespace
}  // namespace baton
