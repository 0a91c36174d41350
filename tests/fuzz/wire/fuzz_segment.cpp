// Segments from other processes: refused with a reason, or every part of them lies inside.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "fuzz_target.hpp"
#include "wire/control.hpp"
#include "wire/names.hpp"
#include "wire/segment.hpp"

namespace {

using namespace baton::wire;

/// A copy of the input that begins as mapped memory does.
class Mapped {
 public:
  Mapped(const std::uint8_t* data, std::size_t size)
      : bytes_(static_cast<std::byte*>(::operator new(std::max<std::size_t>(size, 1), kAlign))) {
    if (size != 0) std::memcpy(bytes_, data, size);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { ::operator delete(bytes_, kAlign); }
  [[nodiscard]] const std::byte* get() const { return bytes_; }

 private:
  static constexpr std::align_val_t kAlign{kCacheLine};
  std::byte* bytes_;
};

void check_segment(const std::byte* memory, std::size_t size, AllocationKey key, std::uint32_t members) {
  if (segment_defect(memory, size, key, members) != nullptr) return;
  const auto& header = *reinterpret_cast<const SegmentHeader*>(memory);
  FUZZ_REQUIRE(header.member_count == members && header.key == key);
  // The last byte of every entry and of every part can be touched.
  const auto at = [&](std::uint64_t offset) { return std::to_integer<unsigned>(memory[offset]); };
  unsigned sum = members == 0 ? 0 : at(sizeof(SegmentHeader) + std::uint64_t{members} * sizeof(MemberEntry) - 1);
  for (std::uint64_t part = 0; part < std::min<std::uint64_t>(members, 1000); ++part) {
    if (header.part_bytes != 0) sum += at(header.first_part + part * header.part_stride + header.part_bytes - 1);
  }
  FUZZ_REQUIRE(sum != 1U << 31U);
}

void check_control(const std::byte* memory, std::size_t size) {
  if (control_defect(memory, size) != nullptr) return;
  const auto& header = *reinterpret_cast<const ControlHeader*>(memory);
  FUZZ_REQUIRE(header.rank_count >= 1 && header.rank_count <= kMaxRanks);
  const RankBlock& last = rank_block(header, header.rank_count - 1);
  FUZZ_REQUIRE(reinterpret_cast<const std::byte*>(&last + 1) <= memory + size);
  for (const char c : load_name(header.name)) FUZZ_REQUIRE(c >= ' ' && c <= '~');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Mapped memory(data, size);
  // The key and the number of members that the receiver expects are often those that the sender wrote.
  AllocationKey key{1, 2};
  std::uint32_t members = 3;
  if (size >= sizeof(SegmentHeader)) {
    const auto& header = *reinterpret_cast<const SegmentHeader*>(memory.get());
    key = header.key;
    members = header.member_count;
  }
  check_segment(memory.get(), size, key, members);
  check_segment(memory.get(), size, {1, 2}, 3);
  check_control(memory.get(), size);
  return 0;
}
