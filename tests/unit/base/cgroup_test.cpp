#include "base/cgroup.hpp"

#include <gtest/gtest.h>

#include "fake_kernel_files.hpp"

namespace baton {
namespace {

constexpr const char* kUnified = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

class Version2 : public testing::Test {
 protected:
  Version2() {
    kernel.write("/proc/self/cgroup", "0::/job/step\n");
    std::string mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
    mounts += kUnified;
    kernel.write("/proc/self/mountinfo", mounts);
  }
  FakeKernelFiles kernel;
};

TEST_F(Version2, WithoutFilesThereAreNoLimits) {
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), std::nullopt);
  EXPECT_FALSE(cgroup_memory(kernel.files()));
}

TEST_F(Version2, MaxMeansNoLimit) {
  kernel.write("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  kernel.write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  kernel.write("/sys/fs/cgroup/job/step/memory.current", "4096\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), std::nullopt);
  EXPECT_FALSE(cgroup_memory(kernel.files()));
}

TEST_F(Version2, QuotasAreRoundedUp) {
  kernel.write("/sys/fs/cgroup/job/step/cpu.max", "250000 100000\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), 3);
  kernel.write("/sys/fs/cgroup/job/step/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), 2);
  kernel.write("/sys/fs/cgroup/job/step/cpu.max", "1000 100000\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), 1);
}

TEST_F(Version2, JunkIsNoLimit) {
  for (const char* junk : {"", "\n", "100000", "100000 0\n", "x y\n", "-1 100000\n"}) {
    kernel.write("/sys/fs/cgroup/job/step/cpu.max", junk);
    EXPECT_EQ(cgroup_processor_limit(kernel.files()), std::nullopt) << junk;
  }
}

TEST_F(Version2, TheTightestAncestorCounts) {
  kernel.write("/sys/fs/cgroup/job/step/cpu.max", "800000 100000\n");
  kernel.write("/sys/fs/cgroup/job/cpu.max", "400000 100000\n");
  kernel.write("/sys/fs/cgroup/cpu.max", "600000 100000\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), 4);
}

TEST_F(Version2, MemoryIsThatOfTheLevelWithTheLeastLeft) {
  kernel.write("/sys/fs/cgroup/job/step/memory.max", "1000000\n");
  kernel.write("/sys/fs/cgroup/job/step/memory.current", "100000\n");
  kernel.write("/sys/fs/cgroup/job/memory.max", "2000000\n");
  kernel.write("/sys/fs/cgroup/job/memory.current", "1900000\n");
  const auto memory = cgroup_memory(kernel.files());
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->limit_bytes, 2'000'000U);
  EXPECT_EQ(memory->used_bytes, 1'900'000U);
  EXPECT_EQ(memory->left_bytes(), 100'000U);
}

TEST_F(Version2, FileCacheDoesNotCountAsUsed) {
  kernel.write("/sys/fs/cgroup/job/step/memory.max", "1000000\n");
  kernel.write("/sys/fs/cgroup/job/step/memory.current", "900000\n");
  kernel.write("/sys/fs/cgroup/job/step/memory.stat", "anon 1\nshmem 5\ninactive_file 300000\nactive_file 200000\n");
  EXPECT_EQ(cgroup_memory(kernel.files())->used_bytes, 400'000U);
}

TEST_F(Version2, UseAboveTheLimitLeavesNothing) {
  kernel.write("/sys/fs/cgroup/job/step/memory.max", "1000\n");
  kernel.write("/sys/fs/cgroup/job/step/memory.current", "2000\n");
  EXPECT_EQ(cgroup_memory(kernel.files())->left_bytes(), 0U);
}

TEST_F(Version2, MountPointsMayHoldSpaces) {
  kernel.write("/proc/self/mountinfo", "30 24 0:26 / /odd\\040place rw - cgroup2 cgroup2 rw\n");
  kernel.write("/odd place/job/cpu.max", "100000 100000\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), 1);
}

TEST_F(Version2, GroupsOutsideTheMountFallBackToItsTop) {
  kernel.write("/proc/self/cgroup", "0::/../other\n");
  kernel.write("/sys/fs/cgroup/cpu.max", "500000 100000\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), 5);
}

class Version1 : public testing::Test {
 protected:
  Version1() {
    kernel.write("/proc/self/cgroup", "9:memory:/job\n5:cpu,cpuacct:/docker/abc\n4:cpuset:/\n0::/\n");
    kernel.write("/proc/self/mountinfo",
                 "31 24 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                 "32 24 0:28 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n" +
                     std::string(kUnified));
  }
  FakeKernelFiles kernel;
};

TEST_F(Version1, AContainerSeesItsGroupAsTheTop) {
  kernel.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  kernel.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), 2);
}

TEST_F(Version1, MinusOneMeansNoQuota) {
  kernel.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  kernel.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), std::nullopt);
}

TEST_F(Version1, ReadsMemoryOfTheGroup) {
  kernel.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000000\n");
  kernel.write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "700000\n");
  kernel.write("/sys/fs/cgroup/memory/job/memory.stat",
               "inactive_file 7\ntotal_inactive_file 100000\ntotal_active_file 50000\n");
  const auto memory = cgroup_memory(kernel.files());
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->limit_bytes, 1'000'000U);
  EXPECT_EQ(memory->used_bytes, 550'000U);
}

TEST_F(Version1, TheLargestNumberMeansNoLimit) {
  kernel.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  kernel.write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "700000\n");
  EXPECT_FALSE(cgroup_memory(kernel.files()));
}

TEST(Cgroup, AMachineWithoutGroupsHasNoLimits) {
  const FakeKernelFiles kernel;
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), std::nullopt);
  EXPECT_FALSE(cgroup_memory(kernel.files()));
  kernel.write("/proc/self/cgroup", "junk\n:\n::\n0::/\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), std::nullopt);
  kernel.write("/proc/self/mountinfo", "junk\n- - -\n\n");
  EXPECT_EQ(cgroup_processor_limit(kernel.files()), std::nullopt);
}

}  // namespace
}  // namespace baton
