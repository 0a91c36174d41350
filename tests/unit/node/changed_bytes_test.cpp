// What a task has changed, on its way to the node.
#include "node/changed_bytes.hpp"

#include <random>

#include <gtest/gtest.h>

#include "node/far_message.hpp"

namespace baton::node {
namespace {

using Bytes = std::vector<std::byte>;

/// Applies all pieces; how many there were.
int apply_all(ChangedBytes changes, Bytes& buffer) {
  int pieces = 0;
  for (auto piece = changes.next(); !piece.empty(); piece = changes.next(), ++pieces) {
    EXPECT_TRUE(ChangedBytes::apply(piece, buffer));
  }
  return pieces;
}

TEST(ChangedBytes, NothingIsSentOfWhatIsAsItWas) {
  Bytes same(1000, std::byte{7});
  EXPECT_EQ(apply_all(ChangedBytes(0, same, same), same), 0);
}

TEST(ChangedBytes, ReachTheBufferAndNothingBesideThem) {
  std::mt19937 random(7);
  for (const std::size_t count : {1U, 63U, 64U, 65U, 1000U}) {
    const Bytes before(count, std::byte{1});
    Bytes after = before;
    for (std::size_t i = 0; i < count; i += 1 + random() % 5) after[i] = std::byte{2};
    // Somebody else has changed the rest meanwhile.
    Bytes buffer(count + 100, std::byte{3});
    apply_all(ChangedBytes(50, before, after), buffer);
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      const bool changed = i >= 50 && i < 50 + count && after[i - 50] != before[i - 50];
      ASSERT_EQ(buffer[i], changed ? std::byte{2} : std::byte{3}) << count << " " << i;
    }
  }
}

TEST(ChangedBytes, ComeInPieces) {
  const Bytes before(3 * kFarPiece, std::byte{0});
  const Bytes after(before.size(), std::byte{9});
  Bytes buffer(before.size());
  EXPECT_GE(apply_all(ChangedBytes(0, before, after), buffer), 3);
  EXPECT_EQ(buffer, after);
}

TEST(ChangedBytes, OutsideOfTheBufferAreRefused) {
  const Bytes before(64, std::byte{0});
  const Bytes after(64, std::byte{1});
  ChangedBytes changes(10, before, after);
  const auto whole = changes.next();
  Bytes buffer(73);
  EXPECT_FALSE(ChangedBytes::apply(whole, buffer));
  buffer.resize(74);
  EXPECT_FALSE(ChangedBytes::apply(whole.first(whole.size() - 1), buffer));
  EXPECT_FALSE(ChangedBytes::apply(whole.first(7), buffer));
  EXPECT_TRUE(ChangedBytes::apply(whole, buffer));
}

}  // namespace
}  // namespace baton::node
