#include "comm/barrier_protocol.hpp"

#include <gtest/gtest.h>

#include "wire/barrier_words.hpp"

namespace baton::comm {
namespace {

using Barrier = BarrierProtocol<wire::BarrierWords>;

TEST(BarrierProtocol, CompletesWithTheLastArrivalOfEachEpoch) {
  wire::BarrierWords words{};
  for (std::uint64_t epoch = 1; epoch <= 5; ++epoch) {
    for (int member = 0; member < 3; ++member) {
      EXPECT_FALSE(Barrier::passed(words, epoch));
      const auto arrival = Barrier::arrive(words, epoch, 3);
      EXPECT_EQ(arrival, member == 2 ? Barrier::Arrival::completed : Barrier::Arrival::must_wait);
    }
    EXPECT_TRUE(Barrier::passed(words, epoch));
    EXPECT_FALSE(Barrier::passed(words, epoch + 1));
  }
}

TEST(BarrierProtocol, AWithdrawnArrivalWasNeverMade) {
  wire::BarrierWords words{};
  EXPECT_EQ(Barrier::arrive(words, 1, 2), Barrier::Arrival::must_wait);
  EXPECT_TRUE(Barrier::withdraw(words, 1, 2));
  EXPECT_EQ(Barrier::arrive(words, 1, 2), Barrier::Arrival::must_wait);
  EXPECT_EQ(Barrier::arrive(words, 1, 2), Barrier::Arrival::completed);
  EXPECT_FALSE(Barrier::withdraw(words, 1, 2)) << "a barrier that is complete has been passed";
  // Others may be on their way to the next one already.
  EXPECT_EQ(Barrier::arrive(words, 2, 2), Barrier::Arrival::must_wait);
  EXPECT_FALSE(Barrier::withdraw(words, 1, 2));
  EXPECT_TRUE(Barrier::withdraw(words, 2, 2));
}

}  // namespace
}  // namespace baton::comm
