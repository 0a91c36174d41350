// Two ends of a channel, with all that is told on its way for as long as chance wants.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "collectives/hosts/slot_counts.hpp"

namespace baton::collectives {
namespace {

constexpr std::uint64_t kSlots = SlotCounts::kSlots;

/// One of the two, and what is on its way to it, in order: messages, and what is told alone.
struct End {
  struct News {
    bool is_message;
    std::uint64_t value;
  };
  SlotCounts counts;
  std::deque<News> coming;
  std::deque<std::uint64_t> slots;  // what came with the messages that lie there
  std::uint64_t word = 0;           // what was told alone
  std::uint64_t sent = 0;
  std::uint64_t told_alone = 0;  // how often

  bool send_to(End& other) {
    if (!counts.has_room() && word >= counts.first_missing()) counts.note_taken(word);
    if (!counts.has_room()) return false;
    EXPECT_LT(sent - other.counts.taken(), kSlots) << "a slot is in use";
    const SlotCounts::Outgoing message = counts.send();
    EXPECT_EQ(message.number, ++sent);
    EXPECT_LE(message.told, SlotCounts::kToldMask);
    other.coming.push_back({true, message.told});
    return true;
  }
  bool receive_from(End& other) {
    if (slots.empty()) return false;
    counts.note_told(slots.front());
    counts.note_told(slots.front());
    slots.pop_front();
    if (counts.take()) {
      ++told_alone;
      other.coming.push_back({false, counts.taken()});
    }
    return true;
  }
  bool arrive() {
    if (coming.empty()) return false;
    const News news = coming.front();
    coming.pop_front();
    if (news.is_message) {
      slots.push_back(news.value);
    } else {
      EXPECT_GT(news.value, word);
      word = news.value;
    }
    return true;
  }
};

TEST(SlotCounts, WhatIsTakenIsToldWithMessages) {
  End a;
  End b;
  for (int round = 0; round < 1000; ++round) {
    ASSERT_TRUE(a.send_to(b) && b.send_to(a));
    ASSERT_TRUE(a.arrive() && b.arrive());
    ASSERT_TRUE(a.receive_from(b) && b.receive_from(a));
  }
  EXPECT_EQ(a.told_alone + b.told_alone, 0U);
}

TEST(SlotCounts, ItIsToldAloneWhereNoMessageGoes) {
  End a;
  End b;
  for (int round = 0; round < 1000; ++round) {
    ASSERT_TRUE(a.send_to(b)) << round;
    while (a.arrive() || b.arrive() || b.receive_from(a)) {
    }
  }
  EXPECT_EQ(b.told_alone, 1000 / (kSlots / 2));
}

TEST(SlotCounts, NobodyWaitsForRoomForEver) {
  constexpr int kSeeds = 500;
  constexpr int kPhases = 10;
  constexpr int kSteps = 200;
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    End a;
    End b;
    unsigned often_a = 0;
    unsigned often_b = 0;
    const auto step = [&](unsigned what) {
      switch (what % 16) {
        case 0:
        case 1:
        case 2: return a.arrive();
        case 3:
        case 4:
        case 5: return b.arrive();
        case 6:
        case 7: return a.receive_from(b);
        case 8:
        case 9: return b.receive_from(a);
        case 10:
        case 11:
        case 12: return random() % 8 < often_a && a.send_to(b);
        default: return random() % 8 < often_b && b.send_to(a);
      }
    };
    for (int phase = 0; phase < kPhases; ++phase) {
      // One way may be silent for long.
      often_a = random() % 8;
      often_b = random() % 8;
      for (int i = 0; i < kSteps; ++i) static_cast<void>(step(static_cast<unsigned>(random())));
    }
    // One of them receives all and the other nothing, as one that waits for room does.
    End& waits = random() % 2 == 0 ? a : b;
    End& takes = &waits == &a ? b : a;
    while (waits.send_to(takes)) {
    }
    while (waits.arrive() || takes.arrive() || takes.receive_from(waits)) {
    }
    ASSERT_TRUE(waits.send_to(takes)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace baton::collectives
