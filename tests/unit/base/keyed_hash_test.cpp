// The vectors that its authors published: bytes 0, 1, 2, ... under the key 0, 1, ... 15.
#include "base/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace baton {
namespace {

HashKey counting_key() {
  HashKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  return key;
}

std::uint64_t of_counting(std::size_t count) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(i));
  return keyed_hash(counting_key(), bytes);
}

TEST(KeyedHash, IsSipHash) {
  EXPECT_EQ(of_counting(0), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(of_counting(1), 0x74f839c593dc67fdU);
  EXPECT_EQ(of_counting(8), 0x93f5f5799a932462U);
  EXPECT_EQ(of_counting(15), 0xa129ca6149be45e5U);
}

TEST(KeyedHash, KeysDiffer) {
  const HashKey one = make_hash_key();
  EXPECT_NE(one, make_hash_key());
  EXPECT_NE(keyed_hash(one, {}), keyed_hash(make_hash_key(), {}));
}

}  // namespace
}  // namespace baton
