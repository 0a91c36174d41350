#include "base/event_ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/text_arena.hpp"

namespace baton {
namespace {

constexpr std::uint64_t kCapacity = 256;

struct Ring {
  EventRing ring{};
  std::unique_ptr<EventSlot[]> slots = std::make_unique<EventSlot[]>(kCapacity);

  [[nodiscard]] RingWriter writer() { return {ring, slots.get(), kCapacity, kEventClaim}; }
  [[nodiscard]] RingContents<kEventWords> read() const { return read_ring(ring, slots.get(), kCapacity); }
};

EventRecord numbered(std::uint64_t number) {
  return {.begin = number, .end = number, .kind = EventKind::put, .a = number, .b = number, .c = number, .d = number};
}

TEST(EventRing, GivesBackWhatWasWritten) {
  Ring ring;
  RingWriter writer = ring.writer();
  EXPECT_TRUE(ring.read().events.empty());
  for (std::uint64_t i = 0; i < 3; ++i) writer.write(words_of(numbered(i)));
  const auto contents = ring.read();
  ASSERT_EQ(contents.events.size(), 3U);
  EXPECT_EQ(contents.first, 0U);
  EXPECT_EQ(event_of(contents.events[2]).a, 2U);
  EXPECT_EQ(event_of(contents.events[2]).kind, EventKind::put);
}

TEST(EventRing, KeepsTheLastEvents) {
  Ring ring;
  RingWriter writer = ring.writer();
  for (std::uint64_t i = 0; i < 10 * kCapacity + 3; ++i) writer.write(words_of(numbered(i)));
  const auto contents = ring.read();
  // Those that the writer has claimed for what comes next are given up.
  EXPECT_GE(contents.events.size(), kCapacity - kEventClaim);
  EXPECT_EQ(event_of(contents.events.back()).a, 10 * kCapacity + 2);
  EXPECT_EQ(event_of(contents.events.front()).a, contents.first);
}

TEST(EventRing, ANewWriterGoesOnWhereTheLastOneStopped) {
  Ring ring;
  RingWriter first = ring.writer();
  first.write(words_of(numbered(0)));
  RingWriter second = ring.writer();
  second.write(words_of(numbered(1)));
  EXPECT_EQ(ring.read().events.size(), 2U);
}

TEST(EventRing, AReaderThatIsOvertakenGetsOnlyWholeEvents) {
  Ring ring;
  std::atomic<bool> stop{false};
  std::thread writing([&] {
    RingWriter writer = ring.writer();
    for (std::uint64_t i = 0; !stop.load(std::memory_order_relaxed); ++i) writer.write(words_of(numbered(i)));
  });
  std::uint64_t read = 0;
  for (int round = 0; round < 2000 || read == 0; ++round) {
    const auto contents = ring.read();
    for (std::size_t i = 0; i < contents.events.size(); ++i) {
      const EventRecord event = event_of(contents.events[i]);
      const std::uint64_t number = contents.first + i;
      ASSERT_EQ(event.begin, number);
      ASSERT_TRUE(event.end == number && event.a == number && event.d == number);
    }
    read += contents.events.size();
  }
  stop.store(true, std::memory_order_relaxed);
  writing.join();
}

TEST(EventRing, EnumeratorsOfOthersAreReplaced) {
  EventRecord event = numbered(1);
  event.kind = static_cast<EventKind>(200);
  event.outcome = static_cast<EventOutcome>(200);
  const EventRecord read = event_of(words_of(event));
  EXPECT_EQ(read.kind, EventKind::none);
  EXPECT_EQ(read.outcome, EventOutcome::done);
}

TEST(TextArena, GivesBackWhatFits) {
  TextArenaHeader header{};
  std::array<std::byte, 48> bytes{};
  EXPECT_TRUE(append_text(header, bytes, 1, "flags"));
  EXPECT_TRUE(append_text(header, bytes, 2, "a\tb"));
  EXPECT_FALSE(append_text(header, bytes, 3, "this is too long for what is left"));
  std::map<TextId, std::string> texts;
  read_texts(header, bytes, texts);
  EXPECT_EQ(texts, (std::map<TextId, std::string>{{1, "flags"}, {2, "a?b"}}));
}

TEST(TextArena, ForgedSizesDoNoHarm) {
  TextArenaHeader header{};
  std::array<std::byte, 24> bytes{};
  bytes[4] = std::byte{0xff};
  bytes[5] = std::byte{0xff};
  header.used.store(1 << 20);
  std::map<TextId, std::string> texts;
  read_texts(header, bytes, texts);
  EXPECT_TRUE(texts.empty());
}

}  // namespace
}  // namespace baton
