#include "comm/backends/shm/unix_address.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "comm/backends/shm/rendezvous_socket.hpp"
#include "support/require.hpp"

namespace baton::shm {
namespace {

TEST(UnixAddress, IsAbstractAndAsLongAsItsName) {
  const UnixAddress address("abc");
  EXPECT_EQ(address.length(), offsetof(sockaddr_un, sun_path) + 4);
  const auto& raw = *reinterpret_cast<const sockaddr_un*>(address.get());
  EXPECT_EQ(raw.sun_family, AF_UNIX);
  EXPECT_EQ(raw.sun_path[0], '\0');
  EXPECT_EQ(std::string(raw.sun_path + 1, 3), "abc");
}

TEST(UnixAddress, RefusesWhatDoesNotFit) {
  EXPECT_NO_THROW(UnixAddress(std::string(107, 'x')));
  test::require_error(Code::invalid_argument, {"has 108 bytes; 1 to 107 fit"},
                      [] { UnixAddress(std::string(108, 'x')); });
  test::require_error(Code::invalid_argument, {"has 0 bytes"}, [] { UnixAddress(""); });
}

TEST(RendezvousAddress, FitsForNamesOfAnyLengthAndDiffers) {
  const std::string longest(64, 'j');
  EXPECT_NE(rendezvous_address(longest).find(longest), std::string::npos);
  for (const std::size_t length : {65U, 1000U, 100'000U}) {
    const std::string name(length, 'j');
    EXPECT_NO_THROW(UnixAddress{rendezvous_address(name)});
    EXPECT_NE(rendezvous_address(name), rendezvous_address(name + "j"));
    EXPECT_EQ(rendezvous_address(name), rendezvous_address(name));
  }
  EXPECT_NE(rendezvous_address("a"), rendezvous_address("b"));
}

}  // namespace
}  // namespace baton::shm
