// Reductions of a tile to its first column (TROW...) or its first row (TCOL...).
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/elementwise.hpp>
#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/reduce_row.hpp>
#include <pto/instructions/scratch.hpp>
#include <pto/instructions/whole_rows.hpp>

namespace baton::kernel {

/// A tile of one column: row-major, of which the first column counts, or column-major with one column.
template <typename TileData>
inline constexpr bool is_column =
    lies_in<TileData, pto::TileType::Vec> && !TileData::isBoxedLayout && (TileData::isRowMajor || TileData::Cols == 1);

PTO_ONCE PTO_COLD AICORE void refuse_row_reduction(BatonPlace place, TileView dst, TileView src, TileView tmp) {
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_equal(place, "the valid rows of dst", dst.valid_rows, "those of src", src.valid_rows);
  check_scratch_view(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "dst", writes(dst));
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
}

/// What is reduced: `first` is the source, row by row; dst has one element for each row, `pitch` elements apart, or one
/// row.
PTO_ONCE PTO_SHARED AICORE Work begin_row_reduction(const char* name, Where where, const TileView& dst,
                                                    const TileView& src, const TileView& tmp) {
  const BatonPlace place = place_of(name, where);
  const bool is_usual = is_usable(dst) && is_usable(src) && dst.valid_rows == src.valid_rows && is_usable(tmp) &&
                        are_apart(tmp, dst) && are_apart(tmp, src);
  if (kChecks && !is_usual) refuse_row_reduction(place, dst, src, tmp);
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst), scratch_range(tmp));
  clobber(tmp);
  const int64_t pitch = dst.order.bands_are_rows ? dst.order.cols : 1;
  return {dst.data, pitch, src.is_empty() ? 0 : src.valid_rows, src.valid_cols, lines_of(src), lines_of(src)};
}

PTO_ONCE PTO_SHARED AICORE Work begin_col_reduction(const char* name, Where where, const TileView& dst,
                                                    const TileView& src) {
  const BatonPlace place = place_of(name, where);
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_equal(place, "the valid columns of dst", dst.valid_cols, "those of src", src.valid_cols);
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst));
  return {dst.data, 0, src.is_empty() ? 0 : src.valid_rows, src.valid_cols, lines_of(src), lines_of(src)};
}

#if defined(__CUDACC__)
/// The same with a lane of the core for each of kReducedLanes, which are in one warp.
template <typename Element, typename Operation>
__device__ void reduce_rows_on_lanes(const Work& work, Operation operation) {
  on_lanes([operation, to = static_cast<Element*>(work.dst), pitch = work.pitch, rows = work.rows, cols = work.cols,
            from = static_cast<const Element*>(work.first.data), from_pitch = work.first.pitch](Lanes lanes) {
    const int lane = static_cast<int>(lanes.lane % kReducedLanes);
    const uint32_t together = 0xffffu << (lanes.lane & kReducedLanes);
    const int step = static_cast<int>(lanes.count) / kReducedLanes;
    const int used = cols < kReducedLanes ? cols : kReducedLanes;
    for (int row = static_cast<int>(lanes.lane) / kReducedLanes; row < rows; row += step) {
      const Element* const run = in_vec(from + row * static_cast<int32_t>(from_pitch) + lane);
      Computed<Element> value = lane < used ? widened(*run) : Computed<Element>{};
      int i = lane + kReducedLanes;
      // Several are on their way at once; the order of operations is that of the host.
      constexpr int kTogether = 16;
      for (; i + (kTogether - 1) * kReducedLanes < cols; i += kTogether * kReducedLanes) {
        Computed<Element> some[kTogether];
        PTO_UNROLL
        for (int k = 0; k < kTogether; ++k) some[k] = widened(run[i - lane + k * kReducedLanes]);
        if constexpr (is_associative<Operation>) {
          PTO_UNROLL
          for (int apart = 1; apart < kTogether; apart *= 2) {
            PTO_UNROLL
            for (int k = 0; k < kTogether; k += 2 * apart) some[k] = operation(some[k], some[k + apart]);
          }
          value = operation(value, some[0]);
        } else {
          PTO_UNROLL
          for (int k = 0; k < kTogether; ++k) value = operation(value, some[k]);
        }
      }
      for (; i < cols; i += kReducedLanes) value = operation(value, widened(run[i - lane]));
      if (used == kReducedLanes) {
        PTO_UNROLL
        for (int half = kReducedLanes / 2; half > 0; half /= 2) {
          value =
              operation(value, static_cast<Computed<Element>>(__shfl_down_sync(together, value, half, kReducedLanes)));
        }
      } else {
        for (int k = 1; k < used; ++k) {
          const auto next = static_cast<Computed<Element>>(__shfl_sync(together, value, k, kReducedLanes));
          if (lane == 0) value = operation(value, next);
        }
      }
      if (lane == 0) to[row * pitch] = static_cast<Element>(value);
      // The next row may be what this one was written to.
      __syncwarp(together);
    }
  });
}
#else
template <typename Element, typename Operation>
PTO_INLINE AICORE void reduce_rows_on_lanes(const Work& work, Operation operation) {
  on_lanes([operation, to = static_cast<Element*>(work.dst), pitch = work.pitch, rows = work.rows, cols = work.cols,
            from = static_cast<const Element*>(work.first.data), from_pitch = work.first.pitch](Lanes lanes) {
    for (auto row = static_cast<int32_t>(lanes.lane); row < rows; row += static_cast<int32_t>(lanes.count)) {
      to[row * pitch] = reduce_row(operation, from + row * from_pitch, cols);
    }
  });
}
#endif

/// Whether what is reduced and what is written are apart, so that lanes may take rows in any order.
template <typename Element>
PTO_INLINE AICORE bool reduces_apart(const Work& work) {
  constexpr int64_t kBytes = sizeof(Element);
  return are_apart(work.dst, ((work.rows - 1) * work.pitch + 1) * kBytes, work.first.data,
                   ((work.rows - 1) * work.first.pitch + work.cols) * kBytes);
}

template <typename Element, typename Operation>
PTO_INLINE AICORE void reduce_each_row(const Work& work, Operation operation) {
  for (int row = 0; row < work.rows; ++row) {
    const Element* run = static_cast<const Element*>(work.first.data) + row * work.first.pitch;
    static_cast<Element*>(work.dst)[row * work.pitch] = reduce_row(operation, run, work.cols);
  }
}
/// The same, out of the way where lanes do it as a rule.
template <typename Element, typename Operation>
PTO_OUTLINED AICORE void reduce_rows_alone(Work work, Operation operation) {
  reduce_each_row<Element>(work, operation);
}

template <typename Element, typename Operation>
PTO_SHARED AICORE void reduce_rows(const Work& work, Operation operation) {
  if constexpr (kManyLanes) {
    if (reduces_apart<Element>(work)) return reduce_rows_on_lanes<Element>(work, operation);
    reduce_rows_alone<Element>(work, operation);
  } else {
    reduce_each_row<Element>(work, operation);
  }
}

template <typename Operation, typename Dst, typename Src, typename Tmp>
PTO_OUTLINED AICORE void reduce_rows_the_long_way(const char* name, Where where, Dst dst, Src src, Tmp tmp,
                                                  Operation operation) {
  reduce_rows<typename Src::DType>(begin_row_reduction(name, where, dst, src, tmp), operation);
}

template <typename Operation, typename Dst, typename Src, typename Tmp>
PTO_INLINE AICORE void reduce_tile_rows(const char* name, Where where, Dst& dst, Src& src, Tmp& tmp,
                                        Operation operation) {
  if constexpr (are_whole_rows<Dst, Src, Tmp>) {
    if (!reduce_whole_rows(operation, dst, src, tmp)) {
      reduce_rows_the_long_way(name, where, dst, src, tmp, operation);
    }
  } else {
    reduce_rows<typename Src::DType>(begin_row_reduction(name, where, dst, src, tmp), operation);
  }
}

template <typename Element, typename Operation>
PTO_SHARED AICORE void reduce_wide_cols(const Work& work, Operation operation) {
  for (int first = 0; first < work.cols; first += kReducedLanes) {
    const int here = work.cols - first < kReducedLanes ? work.cols - first : kReducedLanes;
    const Element* from = static_cast<const Element*>(work.first.data) + first;
    Computed<Element> lanes[kReducedLanes] = {};
    Computed<Element> next[kReducedLanes] = {};
    load_lanes(lanes, from, here);
    for (int row = 1; row < work.rows; ++row) {
      from += work.first.pitch;
      load_lanes(next, from, here);
      reduce_lanes(operation, lanes, next);
    }
    narrow_to_nearest(static_cast<Element*>(work.dst) + first, lanes, static_cast<size_t>(here));
  }
}

/// Row after row onto the first one, aside: dst may lie on any of them. What is not calculated with as it is stays wide
/// until the last row.
template <typename Element, typename Operation>
PTO_SHARED AICORE void reduce_cols(const Work& work, Operation operation) {
  if (work.rows == 0) return;
  if constexpr (kManyLanes) {
    // Each lane its columns, whole: what one of them reads no other one writes.
    on_lanes([operation, to = static_cast<Element*>(work.dst), rows = work.rows, cols = work.cols,
              from = static_cast<const Element*>(work.first.data), pitch = work.first.pitch](Lanes lanes) {
      for (auto col = static_cast<int32_t>(lanes.lane); col < cols; col += static_cast<int32_t>(lanes.count)) {
        Computed<Element> value = widened(from[col]);
        for (int32_t row = 1; row < rows; ++row) value = operation(value, widened(from[row * pitch + col]));
        to[col] = static_cast<Element>(value);
      }
    });
  } else if constexpr (std::is_same_v<Element, Computed<Element>>) {
    constexpr int kAside = 128;
    const auto* from = static_cast<const Element*>(work.first.data);
    for (int done = 0; done < work.cols; done += kAside) {
      const int here = work.cols - done < kAside ? work.cols - done : kAside;
      const size_t bytes = static_cast<size_t>(here) * sizeof(Element);
      Element aside[kAside];
      memcpy(aside, from + done, bytes);
      const Source others{from + done + work.first.pitch, work.first.pitch, 0};
      combine<Element>({aside, 0, work.rows - 1, here, {aside, 0, 0}, others}, operation);
      memcpy(static_cast<Element*>(work.dst) + done, aside, bytes);
    }
  } else {
    reduce_wide_cols<Element>(work, operation);
  }
}

template <typename Dst, typename Src>
constexpr AICORE void require_reduction() {
  static_assert(have_one_type<Dst, Src>, "dst and src have different element types");
  static_assert(is_vector_number<typename Src::DType>, "reductions take half, float, int16, int32");
}

}  // namespace baton::kernel

namespace pto {

#define PTO_ROW_REDUCTION(NAME, OPERATION)                                                              \
  template <typename Dst, typename Src, typename Tmp>                                                   \
  requires(baton::kernel::is_tile<Tmp>) AICORE RecordEvent NAME(                                        \
      Dst& dst, Src& src, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) {     \
    using namespace baton::kernel;                                                                      \
    static_assert(is_plain_vec<Src>, "row reductions take a row-major Vec tile");                       \
    static_assert(is_column<Dst>,                                                                       \
                  "row reductions write to a row-major Vec tile, or a column-major one of one column"); \
    require_reduction<Dst, Src>();                                                                      \
    require_scratch<Tmp, Src>();                                                                        \
    reduce_tile_rows(#NAME, where, dst, src, tmp, OPERATION{});                                         \
    return {};                                                                                          \
  }                                                                                                     \
  PTO_WITH_EVENTS(NAME)

PTO_ROW_REDUCTION(TROWSUM, AddNumbers)
PTO_ROW_REDUCTION(TROWMAX, LargerNumber)
PTO_ROW_REDUCTION(TROWMIN, SmallerNumber)
PTO_ROW_REDUCTION(TROWPROD, MultiplyNumbers)

#undef PTO_ROW_REDUCTION

#define PTO_COL_REDUCTION(NAME, OPERATION)                                                                    \
  template <typename Dst, typename Src>                                                                       \
  AICORE RecordEvent NAME(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) { \
    using namespace baton::kernel;                                                                            \
    static_assert(are_plain_vecs<Dst, Src>, "column reductions take row-major Vec tiles");                    \
    require_reduction<Dst, Src>();                                                                            \
    const Work work = begin_col_reduction(#NAME, where, dst, src);                                            \
    reduce_cols<typename Src::DType>(work, OPERATION{});                                                      \
    return {};                                                                                                \
  }                                                                                                           \
  PTO_WITH_EVENTS(NAME)

PTO_COL_REDUCTION(TCOLSUM, AddNumbers)
PTO_COL_REDUCTION(TCOLMAX, LargerNumber)
PTO_COL_REDUCTION(TCOLMIN, SmallerNumber)
PTO_COL_REDUCTION(TCOLPROD, MultiplyNumbers)

#undef PTO_COL_REDUCTION

/// `binary` chooses between two orders of summation, both of which are free.
template <typename Dst, typename Src, typename Tmp>
AICORE RecordEvent TCOLSUM(Dst& dst, Src& src, Tmp& tmp, bool /*binary*/,
                           baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TCOLSUM", where);
  baton::kernel::check_tile(place, "dst", dst);
  baton::kernel::check_tile(place, "src", src);
  baton::kernel::issue(place, baton::kernel::pipe_bit(PIPE_V), baton::kernel::scratch_range(tmp));
  baton::kernel::check_and_clobber(place, tmp, dst, src);
  return TCOLSUM(dst, src, where);
}

}  // namespace pto
