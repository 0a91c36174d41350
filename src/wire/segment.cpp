#include "wire/segment.hpp"

namespace baton::wire {
namespace {

/// `value` rounded up to a multiple of `unit`; false on overflow.
bool round_up(std::uint64_t value, std::uint64_t unit, std::uint64_t& out) noexcept {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(value, unit - 1, &sum)) return false;
  out = sum - sum % unit;
  return true;
}

}  // namespace

SegmentShape segment_shape(std::uint32_t members, std::uint64_t part_bytes, std::uint64_t page) noexcept {
  SegmentShape shape{members, part_bytes, 0, 0, 0};
  std::uint64_t parts = 0;
  if (!round_up(part_bytes, page, shape.part_stride)) return shape;
  if (!round_up(sizeof(SegmentHeader) + std::uint64_t{members} * sizeof(MemberEntry), page, shape.first_part))
    return shape;
  if (__builtin_mul_overflow(shape.part_stride, std::uint64_t{members}, &parts)) return shape;
  std::uint64_t total = 0;
  // Sizes of files and mappings are signed.
  if (__builtin_add_overflow(shape.first_part, parts, &total) || total > INT64_MAX) return shape;
  shape.bytes = total;
  return shape;
}

const char* segment_defect(const void* memory, std::size_t bytes, AllocationKey key, std::uint32_t members) noexcept {
  if (memory == nullptr || bytes < sizeof(SegmentHeader)) return "too small for a segment";
  const auto& header = *static_cast<const SegmentHeader*>(memory);
  if (header.magic != kSegmentMagic) return "no segment of a window";
  if (header.version != kSegmentVersion) return "made by another version of Baton";
  if (header.key != key || header.member_count != members) return "the segment of another allocation";
  const std::uint64_t entries_end = sizeof(SegmentHeader) + std::uint64_t{members} * sizeof(MemberEntry);
  std::uint64_t parts = 0;
  std::uint64_t total = 0;
  if (header.first_part < entries_end || header.part_bytes > header.part_stride ||
      __builtin_mul_overflow(header.part_stride, std::uint64_t{members}, &parts) ||
      __builtin_add_overflow(header.first_part, parts, &total) || total != header.bytes || total > bytes) {
    return "a segment with impossible sizes";
  }
  return nullptr;
}

}  // namespace baton::wire
