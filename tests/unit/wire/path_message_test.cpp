// Messages of other hosts: what is refused before anything of them is used.
#include "wire/path_message.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace baton::wire {
namespace {

constexpr PathReceiver kReceiver{.rank = 1, .rank_count = 4, .pass = 0x1234};

PathHeader good() {
  PathHeader header{};
  header.magic = kPathMagic;
  header.version = kPathVersion;
  header.kind = PathKind::put;
  header.source = 2;
  header.change = SignalChange::add;
  header.pass = kReceiver.pass;
  header.sequence = 1;
  header.bytes = 8;
  return header;
}

const char* defect(const PathHeader& header, std::size_t payload = 8) {
  return path_defect(&header, sizeof header, payload, kReceiver);
}

TEST(PathMessage, IsTakenIfItIsForThisRank) { EXPECT_EQ(defect(good()), nullptr); }

TEST(PathMessage, IsRefusedFromStrangers) {
  PathHeader header = good();
  header.pass = 0x1235;
  EXPECT_STREQ(defect(header), "from somebody who is not of the job");
  for (const std::uint32_t source : {1U, 4U, 0xffffffffU}) {
    header = good();
    header.source = source;
    EXPECT_STREQ(defect(header), "from an impossible rank") << source;
  }
}

TEST(PathMessage, IsRefusedIfItIsNone) {
  const PathHeader header = good();
  EXPECT_NE(path_defect(nullptr, sizeof header, 8, kReceiver), nullptr);
  EXPECT_NE(path_defect(&header, sizeof header - 1, 8, kReceiver), nullptr);
  EXPECT_NE(defect(header, 7), nullptr);
  PathHeader other = header;
  other.magic = 1;
  EXPECT_NE(defect(other), nullptr);
  other = header;
  other.version = 99;
  EXPECT_STREQ(defect(other), "of another version of Baton");
  for (const int kind : {0, 8, 255}) {
    other = header;
    other.kind = static_cast<PathKind>(kind);
    EXPECT_NE(defect(other), nullptr) << kind;
  }
  other = header;
  other.change = static_cast<SignalChange>(4);
  EXPECT_NE(defect(other), nullptr);
  other = header;
  other.sequence = 0;
  EXPECT_NE(defect(other), nullptr);
}

TEST(PathMessage, HasWhatItsKindHas) {
  for (const PathKind kind : {PathKind::get, PathKind::flush, PathKind::applied}) {
    PathHeader header = good();
    header.kind = kind;
    header.change = SignalChange::none;
    // What only tells how far the sender is has no turn.
    header.sequence = kind == PathKind::applied ? 0 : 1;
    EXPECT_NE(defect(header), nullptr) << "a payload";
    header.bytes = 0;
    EXPECT_EQ(defect(header, 0), nullptr);
    header.change = SignalChange::set;
    EXPECT_NE(defect(header, 0), nullptr) << "a signal";
    header.change = SignalChange::none;
    header.sequence = 1 - header.sequence;
    EXPECT_NE(defect(header, 0), nullptr) << "a number";
  }
  PathHeader scatter = good();
  scatter.kind = PathKind::scatter;
  scatter.change = SignalChange::none;
  scatter.bytes = 36;
  scatter.value = 4;
  EXPECT_EQ(defect(scatter, 36), nullptr) << "three distances and three pieces";
  for (const std::int64_t piece :
       {std::int64_t{0}, std::int64_t{5}, std::int64_t{37}, std::int64_t{-8}, INT64_MAX, INT64_MIN}) {
    scatter.value = piece;
    EXPECT_NE(defect(scatter, 36), nullptr) << piece;
  }
  PathHeader get = good();
  get.kind = PathKind::get;
  get.change = SignalChange::none;
  get.bytes = 0;
  get.value = -1;
  EXPECT_NE(defect(get, 0), nullptr);
}

}  // namespace
}  // namespace baton::wire
