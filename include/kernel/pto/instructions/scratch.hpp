// Scratch tiles: what an instruction may overwrite on its way.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/events.hpp>
#include <pto/instructions/lane_pieces.hpp>
#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/operands.hpp>
#include <pto/target/matrix_unit.hpp>

namespace baton::kernel {

/// The bytes of a scratch tile: those of its valid region, or of all of it where that is not set.
PTO_INLINE AICORE TileUse scratch_range(const TileView& tmp) {
  const bool is_set = tmp.valid_rows != pto::DYNAMIC && tmp.valid_cols != pto::DYNAMIC;
  return {tmp,
          BATON_READS | BATON_WRITES,
          0,
          0,
          is_set ? tmp.valid_rows : tmp.order.rows,
          is_set ? tmp.valid_cols : tmp.order.cols};
}

/// A scratch tile of Vec with a place and `elements` elements at least.
PTO_ONCE PTO_SHARED AICORE void check_scratch_view(const BatonPlace& place, const TileView& tmp, int64_t elements) {
  if (!kChecks) return;
  if (tmp.data == nullptr) fail(place, BATON_KERNEL_INVALID_ARGUMENT, "tmp has no place; call TASSIGN first");
  const TileUse used = scratch_range(tmp);
  const int64_t reach = tmp.order.footprint(used.rows, used.cols).reach();
  if (reach > tmp.room_bytes) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, "tmp reaches over ", reach, " bytes, but the buffer ends ", tmp.room_bytes,
         " bytes behind its beginning");
  }
  const int64_t has = int64_t{tmp.order.rows} * tmp.order.cols;
  if (has < elements) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "tmp has ", has, " elements, but ", elements, " are needed");
  }
}
template <typename Tmp>
PTO_INLINE AICORE void check_scratch(const BatonPlace& place, const Tmp& tmp, int64_t elements) {
  static_assert(lies_in<Tmp, pto::TileType::Vec>, "tmp is a Vec tile");
  check_scratch_view(place, tmp, elements);
}

/// What was in a scratch tile is lost.
PTO_ONCE PTO_SHARED AICORE void clobber(const TileView& tmp) {
  if (!kChecks) return;
  const TileUse used = scratch_range(tmp);
  const Footprint touched = tmp.order.footprint(used.rows, used.cols);
  if (kMatrixUnit) {
    if (touched.runs == 0) return;
    if (touched.run_bytes < int64_t{kLaneBytes} || !is_wide(tmp.data, 0)) {
      tmp.data[0] = 0xff;
    } else {
      lose_first_bytes(tmp.data);
    }
  } else if (kManyLanes) {
    set_lines_on_lanes(tmp.data, touched.pitch_bytes, touched.runs, touched.run_bytes, 0xff);
  } else {
    for (int64_t run = 0; run < touched.runs; ++run) {
      memset(tmp.data + run * touched.pitch_bytes, 0xff, static_cast<size_t>(touched.run_bytes));
    }
  }
}

PTO_ONCE PTO_SHARED AICORE void check_and_clobber_view(const BatonPlace& place, const TileView& tmp,
                                                       const TileView& dst, const TileView& src) {
  check_scratch_view(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "dst", writes(dst));
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  clobber(tmp);
}

template <typename Tmp, typename Src>
constexpr AICORE void require_scratch() {
  static_assert(std::is_same_v<typename Tmp::DType, typename Src::DType>, "tmp and src have different element types");
  static_assert(lies_in<Tmp, pto::TileType::Vec>, "tmp is a Vec tile");
}

/// A scratch tile of src's type that shares no byte with the operands. Its content is lost.
template <typename Tmp, typename Dst, typename Src>
PTO_INLINE AICORE void check_and_clobber(const BatonPlace& place, const Tmp& tmp, const Dst& dst, const Src& src) {
  require_scratch<Tmp, Src>();
  check_and_clobber_view(place, tmp, dst, src);
}

/// A scratch tile that an instruction does not need, apart from what it reads. Its content is lost.
PTO_ONCE PTO_SHARED AICORE void lose_scratch(const BatonPlace& place, const TileView& tmp, const TileView& src) {
  check_scratch_view(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  issue(place, pipe_bit(PIPE_V), scratch_range(tmp));
  clobber(tmp);
}

}  // namespace baton::kernel
