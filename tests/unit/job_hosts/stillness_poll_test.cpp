// The launcher asks all hosts twice once all of them sleep, and tells it once.
#include "job/hosts/stillness_poll.hpp"

#include <gtest/gtest.h>

#include <baton/error.hpp>

namespace baton::job {
namespace {

using comm::Found;
using comm::HostStillness;

constexpr HostStillness kOneHost{.found = Found::still, .waits = 11, .sent = 5, .done = 2};
constexpr HostStillness kOtherHost{.found = Found::still, .waits = 22, .sent = 3, .done = 6};

class StillnessPollTest : public testing::Test {
 protected:
  static HostStillness uneasy(HostStillness host) {
    host.found = Found::uneasy;
    return host;
  }
  void hint(std::uint32_t host, HostStillness what) { poll_.on_report(host, {.round = 0, .host = what}); }
  void hint_all() {
    hint(0, uneasy(kOneHost));
    hint(1, uneasy(kOtherHost));
  }
  void answer(HostStillness first, HostStillness second) {
    const std::uint64_t round = asked_.back();
    poll_.on_report(0, {.round = round, .host = first});
    poll_.on_report(1, {.round = round, .host = second});
  }

  std::vector<std::uint64_t> asked_;
  int found_ = 0;
  StillnessPoll poll_{2, [this](std::uint64_t round) { asked_.push_back(round); }, [this] { ++found_; }};
};

TEST_F(StillnessPollTest, WhereAllHaveLeftNobodyIsStuck) {
  constexpr HostStillness kEmpty{.found = Found::still, .waits = 0, .sent = 5, .done = 5};
  hint(0, uneasy(kEmpty));
  hint(1, uneasy(kEmpty));
  for (int i = 0; i < 2; ++i) {
    poll_.on_tick();
    answer(kEmpty, kEmpty);
  }
  EXPECT_EQ(found_, 0);
}

TEST_F(StillnessPollTest, TwoEqualLooksAreADeadlockAndItIsToldOnce) {
  poll_.on_tick();
  hint(0, uneasy(kOneHost));
  poll_.on_tick();
  EXPECT_TRUE(asked_.empty());  // one of them has not said that its ranks sleep
  hint(1, uneasy(kOtherHost));
  poll_.on_tick();
  ASSERT_EQ(asked_.size(), 1U);
  poll_.on_tick();
  EXPECT_EQ(asked_.size(), 1U);  // one question at a time
  answer(kOneHost, kOtherHost);
  EXPECT_EQ(found_, 0);
  poll_.on_tick();
  ASSERT_EQ(asked_.size(), 2U);
  answer(kOneHost, kOtherHost);
  EXPECT_EQ(found_, 1);
  for (int i = 0; i < 5; ++i) poll_.on_tick();
  EXPECT_EQ(asked_.size(), 2U);
  // Another one.
  HostStillness later = kOneHost;
  later.waits = 33;
  hint(0, uneasy(later));
  for (int i = 0; i < 2; ++i) {
    poll_.on_tick();
    answer(later, kOtherHost);
  }
  EXPECT_EQ(found_, 2);
}

TEST_F(StillnessPollTest, AMessageOnItsWayOrAChangeIsNone) {
  HostStillness behind = kOtherHost;
  --behind.done;
  HostStillness moved = kOtherHost;
  moved.waits = 23;
  hint_all();
  for (const auto& [first, second] : {std::pair(behind, behind), std::pair(kOtherHost, moved),
                                      std::pair(moved, kOtherHost), std::pair(kOtherHost, uneasy(kOtherHost))}) {
    poll_.on_tick();
    answer(kOneHost, first);
    poll_.on_tick();
    answer(kOneHost, second);
    EXPECT_EQ(found_, 0);
    hint(0, HostStillness{});
    poll_.on_tick();
    hint_all();
  }
}

TEST_F(StillnessPollTest, LooksOnBothSidesOfALivelyMomentAreNotCompared) {
  hint_all();
  poll_.on_tick();
  answer(kOneHost, kOtherHost);
  hint(0, HostStillness{});
  poll_.on_tick();
  hint(0, uneasy(kOneHost));
  poll_.on_tick();
  answer(kOneHost, kOtherHost);
  EXPECT_EQ(found_, 0);
  poll_.on_tick();
  answer(kOneHost, kOtherHost);
  EXPECT_EQ(found_, 1);
}

TEST_F(StillnessPollTest, AnswersOfEarlierRoundsAndHostsThatAreGoneDoNotStopIt) {
  hint_all();
  poll_.on_tick();
  poll_.on_report(0, {.round = asked_.back() + 7, .host = kOneHost});
  answer(kOneHost, kOtherHost);
  poll_.on_report(0, {.round = asked_.back(), .host = HostStillness{}});
  poll_.on_tick();
  ASSERT_EQ(asked_.size(), 2U);
  poll_.on_report(0, {.round = asked_.back(), .host = kOneHost});
  poll_.forget(1);
  EXPECT_EQ(found_, 0);  // it looks otherwise than before
}

TEST_F(StillnessPollTest, ReportsAreReadAsTheyWereWritten) {
  FrameAssembler assembler;
  assembler.add(encode(StillnessReport{.round = 9, .host = kOneHost}));
  auto frame = assembler.next();
  const StillnessReport read = decode_stillness(*frame);
  EXPECT_EQ(read.round, 9U);
  EXPECT_EQ(read.host, kOneHost);
  FrameReader wrong(FrameKind::stillness, "12345678\x09--------========........");
  EXPECT_THROW(static_cast<void>(decode_stillness(wrong)), Error);
}

}  // namespace
}  // namespace baton::job
