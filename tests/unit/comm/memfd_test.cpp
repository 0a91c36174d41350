// Trap 7: a segment is used only if it is exactly what was announced.
#include "comm/memfd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

#include "support/process_memory.hpp"
#include "support/require.hpp"

namespace baton::comm {
namespace {

using test::require_error;

TEST(Memfd, IsZeroAndOfTheSizeAskedFor) {
  const UniqueFd fd = create_memfd("baton-test", 12'345);
  const auto memory = map_memfd(fd, 12'345);
  ASSERT_EQ(memory->bytes(), 12'345U);
  const auto* bytes = static_cast<const std::byte*>(memory->address());
  EXPECT_TRUE(std::all_of(bytes, bytes + 12'345, [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Memfd, IsSharedByAllMappings) {
  const UniqueFd fd = create_memfd("baton-test", 4096);
  const auto one = map_memfd(fd, 4096);
  const auto two = map_memfd(fd, 4096);
  static_cast<char*>(one->address())[100] = 'x';
  EXPECT_EQ(static_cast<char*>(two->address())[100], 'x');
}

TEST(Memfd, CanNeitherShrinkNorGrow) {
  const UniqueFd fd = create_memfd("baton-test", 8192);
  EXPECT_NE(::ftruncate(fd.get(), 4096), 0);
  EXPECT_NE(::ftruncate(fd.get(), 16'384), 0);
}

TEST(Trap7Memfd, OfAnotherSizeIsNotMapped) {
  const UniqueFd fd = create_memfd("baton-test", 8192);
  const std::uint64_t before = test::process_memory().virtual_bytes;
  for (const std::uint64_t announced :
       {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{8193}, std::uint64_t{1} << 40U}) {
    require_error(Code::protocol, {"8192 bytes instead of the announced", std::to_string(announced)},
                  [&] { static_cast<void>(map_memfd(fd, announced)); });
  }
  EXPECT_LT(test::process_memory().virtual_bytes, before + (std::uint64_t{1} << 39U));
}

TEST(Trap7Memfd, ThatCouldShrinkIsNotMapped) {
  const UniqueFd fd(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(fd.get(), 4096), 0);
  require_error(Code::protocol, {"not a sealed memfd"}, [&] { static_cast<void>(map_memfd(fd, 4096)); });
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  require_error(Code::protocol, {"not a sealed memfd"}, [&] { static_cast<void>(map_memfd(fd, 4096)); });
}

TEST(Trap7Memfd, OtherDescriptorsAreNotMapped) {
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  require_error(Code::protocol, {"not a sealed memfd"}, [&] { static_cast<void>(map_memfd(file, 4096)); });
  const UniqueFd none;
  require_error(Code::protocol, {"no descriptor"}, [&] { static_cast<void>(map_memfd(none, 4096)); });
}

}  // namespace
}  // namespace baton::comm
