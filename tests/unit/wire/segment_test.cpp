#include "wire/segment.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace baton::wire {
namespace {

constexpr std::uint64_t kPage = 4096;

TEST(SegmentShape, PartsAreWholePages) {
  for (const std::uint32_t members : {1U, 2U, 31U, 32U, 100U, 65536U}) {
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{1}, kPage - 1, kPage, kPage + 1, std::uint64_t{1} << 30U}) {
      const SegmentShape shape = segment_shape(members, bytes, kPage);
      EXPECT_EQ(shape.member_count, members);
      EXPECT_EQ(shape.part_bytes, bytes);
      EXPECT_EQ(shape.part_stride % kPage, 0U);
      EXPECT_GE(shape.part_stride, bytes);
      EXPECT_LT(shape.part_stride, bytes + kPage);
      EXPECT_EQ(shape.first_part % kPage, 0U);
      EXPECT_GE(shape.first_part, sizeof(SegmentHeader) + members * sizeof(MemberEntry));
      EXPECT_EQ(shape.bytes, shape.first_part + members * shape.part_stride);
    }
  }
}

TEST(SegmentShape, IsEmptyOnOverflow) {
  EXPECT_EQ(segment_shape(1, UINT64_MAX, kPage).bytes, 0U);
  EXPECT_EQ(segment_shape(1, UINT64_MAX - kPage + 2, kPage).bytes, 0U);
  EXPECT_EQ(segment_shape(2, std::uint64_t{1} << 63U, kPage).bytes, 0U);
  EXPECT_EQ(segment_shape(65536, std::uint64_t{1} << 48U, kPage).bytes, 0U);
  // Sizes of files are signed.
  EXPECT_EQ(segment_shape(1, std::uint64_t{1} << 63U, kPage).bytes, 0U);
  EXPECT_NE(segment_shape(1, std::uint64_t{1} << 62U, kPage).bytes, 0U);
}

struct alignas(64) Memory {
  std::byte bytes[8192];
};

constexpr AllocationKey kKey{77, 5};

SegmentHeader& fill(Memory& memory, std::uint32_t members, std::uint64_t part_bytes) {
  auto& header = *reinterpret_cast<SegmentHeader*>(memory.bytes);
  const SegmentShape shape = segment_shape(members, part_bytes, 64);
  header.magic = kSegmentMagic;
  header.version = kSegmentVersion;
  header.member_count = members;
  header.key = kKey;
  header.part_bytes = shape.part_bytes;
  header.part_stride = shape.part_stride;
  header.first_part = shape.first_part;
  header.bytes = shape.bytes;
  return header;
}

TEST(SegmentDefect, NoneInAGoodSegment) {
  Memory memory{};
  const SegmentHeader& header = fill(memory, 4, 100);
  EXPECT_EQ(segment_defect(memory.bytes, header.bytes, kKey, 4), nullptr);
  fill(memory, 4, 0);
  EXPECT_EQ(segment_defect(memory.bytes, header.bytes, kKey, 4), nullptr);
}

TEST(Trap7SegmentDefect, EachFieldThatIsWrong) {
  const auto defect_after = [](auto&& change) -> std::string {
    Memory memory{};
    SegmentHeader& header = fill(memory, 4, 100);
    const std::uint64_t bytes = header.bytes;
    change(header);
    const char* defect = segment_defect(memory.bytes, bytes, kKey, 4);
    return defect == nullptr ? "none" : defect;
  };
  const std::string sizes = "a segment with impossible sizes";
  EXPECT_EQ(defect_after([](SegmentHeader&) {}), "none");
  EXPECT_EQ(defect_after([](SegmentHeader& h) { h.magic ^= 1; }), "no segment of a window");
  EXPECT_EQ(defect_after([](SegmentHeader& h) { ++h.version; }), "made by another version of Baton");
  EXPECT_EQ(defect_after([](SegmentHeader& h) { ++h.key.sequence; }), "the segment of another allocation");
  EXPECT_EQ(defect_after([](SegmentHeader& h) { ++h.key.domain; }), "the segment of another allocation");
  EXPECT_EQ(defect_after([](SegmentHeader& h) { h.member_count = 3; }), "the segment of another allocation");
  EXPECT_EQ(defect_after([](SegmentHeader& h) { h.bytes += 64; }), sizes);
  EXPECT_EQ(defect_after([](SegmentHeader& h) { h.first_part = 0; }), sizes);
  EXPECT_EQ(defect_after([](SegmentHeader& h) { h.part_bytes = h.part_stride + 1; }), sizes);
  EXPECT_EQ(defect_after([](SegmentHeader& h) { h.part_stride = UINT64_MAX / 2; }), sizes);
  EXPECT_EQ(defect_after([](SegmentHeader& h) {
              // Consistent in itself, but beyond the memory that came.
              h.part_stride += 64;
              h.bytes += std::uint64_t{4} * 64;
            }),
            sizes);
}

TEST(Trap7SegmentDefect, TooLittleMemory) {
  Memory memory{};
  const SegmentHeader& header = fill(memory, 4, 100);
  EXPECT_STREQ(segment_defect(nullptr, 10'000, kKey, 4), "too small for a segment");
  EXPECT_STREQ(segment_defect(memory.bytes, sizeof(SegmentHeader) - 1, kKey, 4), "too small for a segment");
  EXPECT_STREQ(segment_defect(memory.bytes, header.bytes - 1, kKey, 4), "a segment with impossible sizes");
}

}  // namespace
}  // namespace baton::wire
