// TGATHER: elements of a tile by their place in storage, or every nth column of it.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/scratch.hpp>
#include <pto/target/vector_loop.hpp>

namespace pto {

/// Which columns TGATHER keeps: of each four the digits from the right on.
enum class MaskPattern { P0101 = 1, P1010, P0001, P0010, P0100, P1000, P1111 };

}  // namespace pto

namespace baton::kernel {

/// The largest of some indices, read as unsigned: negative ones are large.
template <typename Index>
PTO_INLINE AICORE uint32_t largest_index(const Index* index, int64_t count) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint32_t>(index[i]);
    largest = at > largest ? at : largest;
  }
  return largest;
}

/// dst[i] = src[index[i]]. Gives the place of the first index that is not below `limit`, or -1; then nothing is read.
template <typename Element, typename Index>
PTO_INLINE AICORE int64_t gather_run(Element* dst, const Element* src, const Index* index, int64_t count,
                                     uint64_t limit) {
  if (count > 0 && largest_index(index, count) >= limit) {
    int64_t first = 0;
    while (static_cast<uint32_t>(index[first]) < limit) ++first;
    return first;
  }
  for (int64_t i = 0; i < count; ++i) dst[i] = src[static_cast<uint32_t>(index[i])];
  return -1;
}

/// By the places in idx: checks the tiles and tells the core.
PTO_ONCE PTO_SHARED AICORE void begin_gather(const BatonPlace& place, const TileView& dst, const TileView& src,
                                             const TileView& idx, const TileView& tmp) {
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_tile(place, "idx", idx);
  check_tile(place, "tmp", tmp);
  check_same_valid(place, "dst", dst, "idx", idx);
  check_same_valid(place, "dst", dst, "tmp", tmp);
  if (!dst.is_empty()) check_equal(place, "dst's valid size in columns", dst.valid_cols, "its Cols", dst.order.cols);
  check_scratch_view(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "dst", writes(dst));
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  check_apart(place, "dst", writes(dst), "src", reads(src));
  check_apart(place, "dst", writes(dst), "idx", reads(idx));
  issue(place, pipe_bit(PIPE_V), reads(src), reads(idx), writes(dst), scratch_range(tmp));
}

/// Elements as large as a Word by indices of type int32_t or uint32_t.
template <typename Word, typename Index>
PTO_SHARED AICORE void gather_rows(const BatonPlace& place, const TileView& dst, const TileView& src,
                                   const TileView& idx) {
  const uint64_t limit = static_cast<uint64_t>(src.room_bytes) / sizeof(Word);
  for (int row = 0; row < dst.valid_rows; ++row) {
    const auto* index = reinterpret_cast<const Index*>(idx.at(row, 0));
    const int64_t wrong = gather_run(reinterpret_cast<Word*>(dst.at(row, 0)), reinterpret_cast<const Word*>(src.data),
                                     index, dst.valid_cols, kChecks ? limit : UINT64_MAX);
    if (wrong >= 0) {
      fail(place, BATON_KERNEL_OUT_OF_RANGE, "idx(", row, ", ", wrong, ") is ", index[wrong], ", but from src on the ",
           "buffer has ", limit, " elements");
    }
  }
}

/// The columns that a pattern keeps: the first one, and each a step further.
struct KeptColumns {
  int first;
  int step;
};

constexpr AICORE KeptColumns columns_of(pto::MaskPattern pattern) {
  using enum pto::MaskPattern;
  switch (pattern) {
    case P0101: return {0, 2};
    case P1010: return {1, 2};
    case P0001: return {0, 4};
    case P0010: return {1, 4};
    case P0100: return {2, 4};
    case P1000: return {3, 4};
    case P1111: return {0, 1};
  }
  return {0, 1};
}

template <int step, typename Word>
PTO_INLINE AICORE void keep_columns_of_row(Word* to, const Word* from, int count) {
  for (int col = 0; col < count; ++col) to[col] = from[int64_t{col} * step];
}

/// Packs the columns that are kept; elements are as large as a Word.
template <typename Word>
PTO_SHARED AICORE void keep_columns(const BatonPlace& place, const TileView& dst, const TileView& src,
                                    KeptColumns kept) {
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_equal(place, "the valid rows of dst", dst.valid_rows, "those of src", src.valid_rows);
  check_equal(place, "the valid columns of dst", dst.valid_cols, "the columns of src that are kept",
              src.valid_cols / kept.step);
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst));
  for (int row = 0; row < dst.valid_rows; ++row) {
    auto* const to = reinterpret_cast<Word*>(dst.at(row, 0));
    const auto* const from = reinterpret_cast<const Word*>(src.at(row, kept.first));
    // Steps that the compiler knows.
    if (kept.step == 2) {
      keep_columns_of_row<2>(to, from, dst.valid_cols);
    } else if (kept.step == 4) {
      keep_columns_of_row<4>(to, from, dst.valid_cols);
    } else {
      keep_columns_of_row<1>(to, from, dst.valid_cols);
    }
  }
}

}  // namespace baton::kernel

namespace pto {

/// dst(r, c) = the idx(r, c)-th element of src's storage, from its offset on. `tmp` is lost.
template <typename Dst, typename Src, typename Index, typename Tmp>
requires(baton::kernel::is_tile<Tmp>) AICORE RecordEvent
    TGATHER(Dst& dst, Src& src, Index& idx, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  using Element = typename Dst::DType;
  static_assert(is_plain_vec<Dst> && is_plain_vec<Src> && is_plain_vec<Index>, "TGATHER takes row-major Vec tiles");
  static_assert(std::is_same_v<Element, typename Src::DType> && (sizeof(Element) == 2 || sizeof(Element) == 4),
                "TGATHER: dst and src have one type of 2 or 4 bytes");
  static_assert(
      is_one_of<typename Index::DType, int32_t, uint32_t> && is_one_of<typename Tmp::DType, int32_t, uint32_t>,
      "TGATHER: idx and tmp are int32 or uint32");
  const BatonPlace place = place_of("TGATHER", where);
  static_assert(lies_in<Tmp, TileType::Vec>, "tmp is a Vec tile");
  const TileView to(dst);
  const TileView from(src);
  const TileView places(idx);
  const TileView scratch(tmp);
  begin_gather(place, to, from, places, scratch);
  gather_rows<UnsignedOf<sizeof(Element)>, typename Index::DType>(place, to, from, places);
  clobber(scratch);
  return {};
}

/// Packs the columns that `pattern` keeps of each row of src.
template <typename Dst, typename Src, MaskPattern pattern>
AICORE RecordEvent TGATHER(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  using Element = typename Dst::DType;
  using Stored = typename Src::DType;
  static_assert(is_plain_vec<Dst> && is_plain_vec<Src>, "TGATHER takes row-major Vec tiles");
  static_assert(sizeof(Element) == sizeof(Stored) && (sizeof(Element) == 2 || sizeof(Element) == 4),
                "TGATHER: elements of dst and src have equal sizes of 2 or 4 bytes");
  keep_columns<UnsignedOf<sizeof(Element)>>(place_of("TGATHER", where), dst, src, columns_of(pattern));
  return {};
}

}  // namespace pto
