// Who is let in: each hello of a rank of the job, once.
#include "wire/hello.hpp"

#include <gtest/gtest.h>

namespace baton::wire {
namespace {

constexpr std::uint32_t kRanks = 3;

std::span<const std::byte> bytes_of(const Hello& hello) { return std::as_bytes(std::span(&hello, 1)); }

struct Keeping : testing::Test {
  const HashKey key = make_hash_key();
  Doorkeeper keeper{key, kRanks};

  const char* objection(const Hello& hello) { return keeper.objection(bytes_of(hello)); }
};

using HelloTest = Keeping;

TEST_F(HelloTest, OfTheJobIsTakenOnce) {
  for (std::uint32_t source = 0; source < kRanks; ++source) {
    for (std::uint32_t number = 0; number < kMostHellos; ++number) {
      const Hello hello = make_hello(key, source, number);
      EXPECT_EQ(objection(hello), nullptr);
      EXPECT_STREQ(objection(hello), "repeating what a rank of the job has said");
    }
  }
}

TEST_F(HelloTest, OfStrangersIsRefused) {
  EXPECT_STREQ(objection(make_hello(make_hash_key(), 1, 0)), "not of the job");
  EXPECT_STREQ(keeper.objection({}), "not a rank of Baton");
  const Hello good = make_hello(key, 1, 0);
  EXPECT_STREQ(keeper.objection(bytes_of(good).first(sizeof good - 1)), "not a rank of Baton");
  Hello other = good;
  other.magic ^= 1;
  EXPECT_STREQ(objection(other), "not a rank of Baton");
  other = good;
  other.version += 1;
  EXPECT_STREQ(objection(other), "of another version of Baton");
  EXPECT_EQ(objection(good), nullptr);
}

TEST_F(HelloTest, SaysWhatItsTagSays) {
  for (std::size_t bit = 0; bit < 8 * sizeof(Hello); ++bit) {
    Hello hello = make_hello(key, 1, 0);
    reinterpret_cast<std::uint8_t*>(&hello)[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_NE(objection(hello), nullptr) << bit;
  }
}

TEST_F(HelloTest, OfImpossibleRanksIsRefused) {
  EXPECT_STREQ(objection(make_hello(key, kRanks, 0)), "of an impossible rank");
  EXPECT_STREQ(objection(make_hello(key, 0, kMostHellos)), "of an impossible rank");
}

}  // namespace
}  // namespace baton::wire
