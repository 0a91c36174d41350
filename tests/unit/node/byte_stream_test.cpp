// Records through a ring, of any length.
#include "node/byte_stream.hpp"

#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "base/parking.hpp"

namespace baton::node {
namespace {

constexpr std::uint64_t kRing = 256;

struct Ring {
  wire::ByteRing ring{};
  std::vector<std::byte> bytes = std::vector<std::byte>(kRing);
  [[nodiscard]] RingView view() { return {&ring, bytes.data(), kRing}; }
};

/// A record of `words` words of 8 bytes; the first holds its length and its number, the others follow from them.
std::vector<std::byte> record_of(std::uint32_t number, std::size_t words) {
  std::vector<std::uint64_t> content(words);
  content[0] = words * 8 | std::uint64_t{number} << 32U;
  for (std::size_t i = 1; i < words; ++i) content[i] = content[0] * 31 + i;
  std::vector<std::byte> bytes(words * 8);
  std::memcpy(bytes.data(), content.data(), bytes.size());
  return bytes;
}

TEST(ByteStream, IsEmptyUntilSomethingIsWritten) {
  Ring ring;
  StreamReader reader(ring.view());
  EXPECT_FALSE(reader.readable());
  EXPECT_FALSE(reader.next());
}

TEST(ByteStream, TellsWhetherTheReaderMaySleep) {
  Ring ring;
  StreamWriter writer(ring.view());
  StreamReader reader(ring.view());
  EXPECT_TRUE(writer.write(record_of(1, 2)).reader_was_idle);
  EXPECT_FALSE(writer.write(record_of(2, 2)).reader_was_idle) << "it has not read the first one";
  ASSERT_TRUE(reader.next());
  reader.release();
  ASSERT_TRUE(reader.next());
  reader.release();
  EXPECT_TRUE(writer.write(record_of(3, 2)).reader_was_idle);
}

TEST(ByteStream, KeepsARecordUntilItIsReleased) {
  Ring ring;
  StreamWriter writer(ring.view());
  StreamReader reader(ring.view());
  const auto sent = record_of(1, kRing / 8);
  EXPECT_EQ(writer.write(sent).bytes, kRing);
  EXPECT_EQ(writer.write(record_of(2, 1)).bytes, 0U);
  const auto got = reader.next();
  ASSERT_TRUE(got);
  EXPECT_TRUE(std::equal(got->begin(), got->end(), sent.begin(), sent.end()));
  EXPECT_EQ(writer.room(), 0U);
  reader.release();
  EXPECT_EQ(writer.room(), kRing);
}

TEST(ByteStream, TakesRecordsThatAreLongerThanTheRing) {
  Ring ring;
  StreamWriter writer(ring.view());
  StreamReader reader(ring.view());
  const auto sent = record_of(1, kRing);  // eight times as long
  std::span<const std::byte> left = sent;
  std::optional<std::span<const std::byte>> got;
  int pieces = 0;
  while (!got) {
    left = left.subspan(writer.write(left).bytes);
    got = reader.next();
    ++pieces;
    EXPECT_TRUE(got || reader.has_part());
  }
  EXPECT_EQ(pieces, 8);
  EXPECT_TRUE(std::equal(got->begin(), got->end(), sent.begin(), sent.end()));
}

/// One thread writes records of all lengths, the other reads them; both sleep when there is nothing to do.
TEST(ByteStream, LosesAndDuplicatesNothingBetweenThreads) {
  constexpr std::uint32_t kRecords = 20000;
  Ring ring;
  Doorbell bell;
  const ParkingPlace place{&bell, FutexScope::process, Crowding::crowded};
  std::thread producer([&] {
    StreamWriter writer(ring.view());
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same records each time
    for (std::uint32_t number = 0; number < kRecords; ++number) {
      const auto record = record_of(number, 1 + random() % 48);
      std::span<const std::byte> left = record;
      while (!left.empty()) {
        const auto written = writer.write(left);
        left = left.subspan(written.bytes);
        if (written.reader_was_idle) bell.ring(FutexScope::process);
        ASSERT_TRUE(wait_until(
            place, [&] { return left.empty() || writer.room() > 0; }, Deadline::after(std::chrono::seconds(30)),
            [] {}));
      }
    }
  });
  StreamReader reader(ring.view());
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same records each time
  for (std::uint32_t number = 0; number < kRecords; ++number) {
    const auto expected = record_of(number, 1 + random() % 48);
    std::optional<std::span<const std::byte>> got;
    while (!(got = reader.next())) {
      bell.ring(FutexScope::process);
      ASSERT_TRUE(wait_until(
          place, [&] { return reader.readable(); }, Deadline::after(std::chrono::seconds(30)), [] {}));
    }
    ASSERT_TRUE(std::equal(got->begin(), got->end(), expected.begin(), expected.end())) << number;
    reader.release();
    bell.ring(FutexScope::process);
  }
  producer.join();
}

}  // namespace
}  // namespace baton::node
