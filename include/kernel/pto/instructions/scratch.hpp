// Scratch tiles: what an instruction may overwrite on its way.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/events.hpp>
#include <pto/instructions/operands.hpp>

namespace baton::kernel {

/// The bytes of a scratch tile: those of its valid region, or of all of it where that is not set.
template <typename Tmp>
AICORE BatonTileRange scratch_range(const Tmp& tmp) {
  const bool is_set = tmp.GetValidRow() != pto::DYNAMIC && tmp.GetValidCol() != pto::DYNAMIC;
  return region_of(tmp, BATON_READS | BATON_WRITES, 0, 0, is_set ? tmp.GetValidRow() : Tmp::Rows,
                   is_set ? tmp.GetValidCol() : Tmp::Cols);
}

/// A scratch tile of Vec with a place and `elements` elements at least.
template <typename Tmp>
AICORE void check_scratch(const BatonPlace& place, const Tmp& tmp, int64_t elements) {
  static_assert(lies_in<Tmp, pto::TileType::Vec>, "tmp is a Vec tile");
  if (!kChecks) return;
  if (tmp.data() == nullptr) fail(place, BATON_KERNEL_INVALID_ARGUMENT, "tmp has no place; call TASSIGN first");
  const BatonTileRange range = scratch_range(tmp);
  const auto reach = range.rows == 0 ? 0 : static_cast<int64_t>((range.rows - 1) * range.pitch_bytes + range.row_bytes);
  if (reach > tmp.room_bytes()) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, "tmp reaches over ", reach, " bytes, but the buffer ends ", tmp.room_bytes(),
         " bytes behind its beginning");
  }
  if (Tmp::Numel < elements) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "tmp has ", Tmp::Numel, " elements, but ", elements, " are needed");
  }
}

/// What was in a scratch tile is lost.
template <typename Tmp>
AICORE void clobber(const Tmp& tmp) {
  if (!kChecks) return;
  const BatonTileRange range = scratch_range(tmp);
  auto* first = reinterpret_cast<unsigned char*>(tmp.data());
  for (uint64_t row = 0; row < range.rows; ++row) memset(first + row * range.pitch_bytes, 0xff, range.row_bytes);
}

/// A scratch tile of src's type that shares no byte with the operands. Its content is lost.
template <typename Tmp, typename Dst, typename Src>
AICORE void check_and_clobber(const BatonPlace& place, const Tmp& tmp, const Dst& dst, const Src& src) {
  static_assert(std::is_same_v<typename Tmp::DType, typename Src::DType>, "tmp and src have different element types");
  check_scratch(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "dst", writes(dst));
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  clobber(tmp);
}

}  // namespace baton::kernel
