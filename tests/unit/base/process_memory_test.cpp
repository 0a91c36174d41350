#include "base/process_memory.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <vector>

#include "child_process.hpp"

namespace baton {
namespace {

constexpr std::size_t kBytes = 300'001;

/// Of the child that has a copy of it, too.
std::vector<std::byte>& sample() {
  static std::vector<std::byte> bytes(kBytes);
  return bytes;
}

TEST(ProcessMemory, OfAChildIsReadAndWritten) {
  for (std::size_t i = 0; i < kBytes; ++i) sample()[i] = static_cast<std::byte>(i * 31);
  ChildProcess child(ChildProcess::sleep_forever);
  if (read_process_memory(child.id().pid, sample().data(), sample().data(), 1) == EPERM)
    GTEST_SKIP() << "the system does not permit it";
  const std::vector<std::byte> whole = sample();
  std::vector<std::byte> got(kBytes - 5);
  ASSERT_EQ(read_process_memory(child.id().pid, sample().data() + 5, got.data(), got.size()), 0);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), whole.begin() + 5));

  const std::vector<std::byte> other(1000, std::byte{0xab});
  ASSERT_EQ(write_process_memory(child.id().pid, other.data(), sample().data() + 7, other.size()), 0);
  EXPECT_EQ(sample(), whole) << "only the child's";
  ASSERT_EQ(read_process_memory(child.id().pid, sample().data() + 7, got.data(), other.size()), 0);
  EXPECT_TRUE(std::equal(other.begin(), other.end(), got.begin()));
}

TEST(ProcessMemory, ThatIsNotThereIsAnError) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* begin = static_cast<std::byte*>(pages);
  std::vector<std::byte> got(2 * page);
  ASSERT_EQ(read_process_memory(self, begin, got.data(), got.size()), 0);
  ASSERT_EQ(::munmap(begin + page, page), 0);
  EXPECT_EQ(read_process_memory(self, begin, got.data(), got.size()), EFAULT);
  EXPECT_EQ(write_process_memory(self, got.data(), begin, got.size()), EFAULT);
  EXPECT_EQ(read_process_memory(self, nullptr, got.data(), 0), 0);
  ASSERT_EQ(::munmap(begin, page), 0);
}

TEST(ProcessMemory, OfAnEndedProcessIsAnError) {
  ChildProcess child(ChildProcess::sleep_forever);
  const std::uint32_t pid = child.id().pid;
  child.kill(SIGKILL);
  child.reap();
  std::byte got{};
  EXPECT_EQ(read_process_memory(pid, &got, &got, 1), ESRCH);
}

}  // namespace
}  // namespace baton
