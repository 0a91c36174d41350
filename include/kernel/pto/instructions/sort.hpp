// TSORT32 and TMRGSORT: pairs of a value and an index, sorted by value, the largest first.
//
// A pair has 8 bytes: a float and 4 bytes of index, or a half, 2 bytes of nothing and 4 bytes of index. Equal values
// keep their order. NaN goes before all numbers.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/scratch.hpp>

namespace pto {

/// How many pairs TMRGSORT has taken of each list.
struct MrgSortExecutedNumList {
  uint16_t mrgSortList0;
  uint16_t mrgSortList1;
  uint16_t mrgSortList2;
  uint16_t mrgSortList3;
};

}  // namespace pto

namespace baton::kernel {

inline constexpr int kSorted = 32;
inline constexpr int kPairBytes = 8;

/// Elements of a pair.
template <typename Element>
inline constexpr int kPairElements = kPairBytes / int{sizeof(Element)};

/// Before all keys; those of numbers lie between.
inline constexpr int32_t kLeastKey = -0x7fffffff - 1;

/// Orders floats as integers; both zeros are alike, and so are all NaNs.
PTO_INLINE AICORE int32_t key_of(float value) {
  const float zero_is_positive = value + 0.0f;
  const auto bits = __builtin_bit_cast(int32_t, zero_is_positive);
  const int32_t key = bits < 0 ? bits ^ 0x7fffffff : bits;
  return value != value ? 0x7f800001 : key;
}
PTO_INLINE AICORE int32_t key_of(half value) { return key_of(static_cast<float>(value)); }

/// Where each of 32 keys goes: behind all larger ones, and behind equal ones before it.
PTO_INLINE AICORE void rank_keys(const int32_t (&keys)[kSorted], int32_t (&ranks)[kSorted]) {
  // Key j goes before key i if it is larger, or equal and j < i: larger than key i less one.
#if defined(__CUDACC__)
  for (int i = 0; i < kSorted; ++i) {
    ranks[i] = 0;
    for (int j = 0; j < kSorted; ++j) ranks[i] += keys[j] > keys[i] - (j < i ? 1 : 0) ? 1 : 0;
  }
#else
  // In registers: what a comparison of vectors gives is -1 where it holds.
  typedef int32_t Keys __attribute__((vector_size(32)));
  constexpr int kKeys = 8;
  constexpr int kVectors = kSorted / kKeys;
  Keys key[kVectors];
  Keys rank[kVectors];
  Keys number[kVectors];
  memcpy(static_cast<void*>(key), keys, sizeof keys);
  PTO_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    rank[v] = Keys{};
    number[v] = Keys{0, 1, 2, 3, 4, 5, 6, 7} + v * kKeys;
  }
  for (int j = 0; j < kSorted; ++j) {
    PTO_UNROLL
    for (int v = 0; v < kVectors; ++v) rank[v] -= keys[j] > key[v] + (number[v] > j);
  }
  memcpy(ranks, static_cast<const void*>(rank), sizeof keys);
#endif
}

/// Sorts `count` values, filled up with minus infinity, into 32 pairs or, of a whole block, as many as there are.
template <typename Element>
AICORE void sort_block(unsigned char* pairs, const Element* values, const uint32_t* indices, int count) {
  int32_t keys[kSorted];
  int32_t ranks[kSorted];
  for (int i = 0; i < kSorted; ++i) keys[i] = i < count ? key_of(values[i]) : kLeastKey + 1;
  rank_keys(keys, ranks);
  for (int i = 0; i < kSorted; ++i) {
    unsigned char pair[kPairBytes] = {};
    const Element value = i < count ? values[i] : static_cast<Element>(-__builtin_inff());
    const uint32_t index = i < count ? indices[i] : 0;
    memcpy(pair, static_cast<const void*>(&value), sizeof value);
    memcpy(pair + 4, &index, sizeof index);
    memcpy(pairs + static_cast<int64_t>(ranks[i]) * kPairBytes, pair, kPairBytes);
  }
}

/// Each 32 columns of each row of src.
template <typename Element>
PTO_SHARED AICORE void sort_rows(const BatonPlace& place, const TileView& dst, const TileView& src,
                                 const TileView& idx) {
  check_tile(place, "src", src);
  check_tile(place, "idx", idx);
  const int rows = src.valid_rows;
  const int cols = src.valid_cols;
  const int blocks = (cols + kSorted - 1) / kSorted;
  const int64_t written_cols = int64_t{blocks} * kSorted * kPairElements<Element>;
  check_region(place, "dst", dst, rows, written_cols);
  if (kChecks && (idx.valid_cols < cols || (idx.valid_rows != rows && idx.valid_rows != 1))) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "idx is ", idx.valid_rows, " x ", idx.valid_cols, ", src is ", rows,
         " x ", cols);
  }
  const TileUse written = region_of(dst, BATON_WRITES, 0, 0, rows, written_cols);
  check_apart(place, "dst", written, "src", reads(src));
  check_apart(place, "dst", written, "idx", reads(idx));
  issue(place, pipe_bit(PIPE_V), reads(src), reads(idx), written);
  for (int row = 0; row < rows; ++row) {
    const auto* values = reinterpret_cast<const Element*>(src.at(row, 0));
    const auto* indices = reinterpret_cast<const uint32_t*>(idx.at(idx.valid_rows == 1 ? 0 : row, 0));
    unsigned char* const pairs = dst.at(row, 0);
    for (int first = 0; first < cols; first += kSorted) {
      sort_block(pairs + static_cast<int64_t>(first) * kPairBytes, values + first, indices + first,
                 cols - first < kSorted ? cols - first : kSorted);
    }
  }
}

PTO_ONCE PTO_SHARED AICORE void lose_sorting_scratch(const BatonPlace& place, const TileView& tmp, const TileView& src,
                                                     const TileView& idx) {
  check_scratch_view(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  check_apart(place, "tmp", scratch_range(tmp), "idx", reads(idx));
  issue(place, pipe_bit(PIPE_V), scratch_range(tmp));
  clobber(tmp);
}

template <typename Dst, typename Src, typename Index>
constexpr AICORE void require_sortable() {
  using Element = typename Src::DType;
  static_assert(is_plain_vec<Dst> && is_plain_vec<Src> && is_plain_vec<Index>, "TSORT32 takes row-major Vec tiles");
  static_assert(is_vector_real<Element> && std::is_same_v<typename Dst::DType, Element>,
                "TSORT32: src and dst are half or float");
  static_assert(std::is_same_v<typename Index::DType, uint32_t>, "TSORT32: idx is uint32");
}

/// A sorted list of pairs that is merged with others.
struct PairList {
  const unsigned char* next;
  int64_t left;
};

template <typename Element>
PTO_INLINE AICORE int32_t key_at(const unsigned char* pair) {
  Element value;
  memcpy(static_cast<void*>(&value), pair, sizeof value);
  return key_of(value);
}

/// Takes pairs from one end of four lists: the first ones, of equal ones those of the earlier list, or the last ones,
/// of equal ones those of the later list.
template <typename Element, bool from_front>
struct FourLists {
  static constexpr int64_t kStep = from_front ? kPairBytes : -kPairBytes;
  static constexpr int32_t kNone = from_front ? kLeastKey : 0x7fffffff;
  PairList lists[4];  // `next` is the pair at that end
  int32_t keys[4];
  int32_t following[4];  // the keys behind those: known before anybody asks

  PTO_INLINE AICORE explicit FourLists(const PairList (&from)[4]) {
    for (int i = 0; i < 4; ++i) {
      lists[i] = from[i];
      if (!from_front && from[i].left > 0) lists[i].next += (from[i].left - 1) * kPairBytes;
      keys[i] = key_of_pair(lists[i], 0);
      following[i] = key_of_pair(lists[i], 1);
    }
  }

  /// Gives the list from which it came.
  PTO_INLINE AICORE int take(unsigned char* to) {
    const int low = goes_before(keys[1], keys[0]) ? 1 : 0;
    const int high = goes_before(keys[3], keys[2]) ? 3 : 2;
    const int from = goes_before(keys[high], keys[low]) ? high : low;
    keys[from] = following[from];
    PairList& list = lists[from];
    memcpy(to, list.next, kPairBytes);
    --list.left;
    list.next += kStep;
    following[from] = key_of_pair(list, 1);
    return from;
  }

 private:
  static PTO_INLINE AICORE bool goes_before(int32_t later, int32_t earlier) {
    return from_front ? later > earlier : later <= earlier;
  }
  /// None behind the end, and nothing is read there.
  static PTO_INLINE AICORE int32_t key_of_pair(const PairList& list, int64_t ahead) {
    static constexpr unsigned char kNothing[kPairBytes] = {};
    const bool is_there = list.left > ahead;
    const int32_t key = key_at<Element>(is_there ? list.next + ahead * kStep : kNothing);
    return is_there ? key : kNone;
  }
};

/// Merges all of four lists, from both ends at once: neither waits for the other.
template <typename Element>
AICORE void merge_all(unsigned char* out, const PairList (&lists)[4], int64_t count) {
  FourLists<Element, true> front(lists);
  FourLists<Element, false> back(lists);
  int64_t first = 0;
  int64_t last = count - 1;
  for (; first < last; ++first, --last) {
    front.take(out + first * kPairBytes);
    back.take(out + last * kPairBytes);
  }
  if (first == last) front.take(out + first * kPairBytes);
}

/// Merges up to `most` pairs, or, if `until_one_ends`, until a list has no more. `lists` are what is left of them.
template <typename Element>
AICORE void merge_some(unsigned char* out, PairList (&lists)[4], int64_t most, bool until_one_ends) {
  FourLists<Element, true> front(lists);
  int64_t total = 0;
  for (const PairList& list : lists) total += list.left;
  const int64_t count = most < total ? most : total;
  for (int64_t written = 0; written < count; ++written) {
    const int from = front.take(out + written * kPairBytes);
    if (until_one_ends && front.lists[from].left == 0) break;
  }
  for (int i = 0; i < 4; ++i) lists[i] = front.lists[i];
}

template <typename Dst, typename List>
constexpr AICORE void require_list() {
  using Element = typename List::DType;
  static_assert(is_plain_vec<List> && List::Rows == 1, "TMRGSORT takes row-major Vec tiles of one row");
  static_assert(is_vector_real<Element> && std::is_same_v<typename Dst::DType, Element>,
                "TMRGSORT takes half or float, the same for all");
}

PTO_ONCE PTO_SHARED AICORE void check_list(const BatonPlace& place, const TileUse& written, const TileView& list) {
  check_tile(place, "a list", list);
  if (kChecks && list.valid_cols % (kPairBytes / list.order.element_bytes) != 0) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "a list has ", list.valid_cols, " valid columns, not whole pairs");
  }
  check_apart(place, "dst", written, "a list", reads(list));
}

/// Of each four runs of `len` elements, one.
template <typename Element>
PTO_SHARED AICORE void merge_runs(const BatonPlace& place, const TileView& dst, const TileView& src, uint32_t len) {
  const int64_t group = int64_t{4} * len;
  const int64_t cols = src.valid_cols;
  check_region(place, "dst", dst, 1, cols);
  const TileUse written = region_of(dst, BATON_WRITES, 0, 0, src.valid_rows, cols);
  check_list(place, written, src);
  if (kChecks && (len == 0 || len % 64 != 0 || cols % group != 0 || cols / group > 255)) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "runs have a multiple of 64 elements, src 1 to 255 times four of them; ",
         "got runs of ", len, " in ", cols, " columns");
  }
  issue(place, pipe_bit(PIPE_V), reads(src), written);
  if (src.is_empty()) return;
  const int64_t run_bytes = int64_t{len} * int64_t{sizeof(Element)};
  const unsigned char* from = src.data;
  unsigned char* to = dst.data;
  for (int64_t at = 0; at < cols; at += group, from += 4 * run_bytes, to += 4 * run_bytes) {
    PairList lists[4];
    for (int i = 0; i < 4; ++i) lists[i] = {from + i * run_bytes, run_bytes / kPairBytes};
    merge_all<Element>(to, lists, 4 * run_bytes / kPairBytes);
  }
}

/// Checks dst, a scratch tile and two to four lists, and tells the core.
PTO_ONCE PTO_SHARED AICORE void begin_merge(const BatonPlace& place, const TileView& dst, const TileView& tmp,
                                            const TileView* lists, int count) {
  check_tile(place, "dst", dst);
  int64_t elements = 0;
  for (int i = 0; i < count; ++i) elements += lists[i].valid_cols;
  check_scratch_view(place, tmp, elements);
  check_apart(place, "tmp", scratch_range(tmp), "dst", writes(dst));
  for (int i = 0; i < count; ++i) check_list(place, writes(dst), lists[i]);
  for (int i = 0; i < count; ++i) check_apart(place, "tmp", scratch_range(tmp), "a list", reads(lists[i]));
  if (BatonCore* const core = watching_core()) {
    const TileUse first = reads(lists[0]);
    TileUse uses[6] = {writes(dst), scratch_range(tmp), first, first, first, first};
    for (int i = 1; i < count; ++i) uses[2 + i] = reads(lists[i]);
    tell(*core, place, pipe_bit(PIPE_V), uses, static_cast<uint32_t>(2 + count), nullptr, 0);
  }
  clobber(tmp);
}

/// Merges the lists into the first columns of dst, until one of them ends if `until_one_ends`.
template <typename Element>
PTO_SHARED AICORE void merge_lists(const TileView& dst, pto::MrgSortExecutedNumList& executed, const TileView* lists,
                                   int count, bool until_one_ends) {
  // Lists that are not there never end.
  PairList all[4] = {};
  int64_t before[4] = {};
  for (int i = 0; i < count; ++i) {
    const TileView& list = lists[i];
    before[i] = list.is_empty() ? 0 : list.valid_cols / kPairElements<Element>;
    all[i] = {list.data, before[i]};
  }
  const int64_t most = dst.is_empty() ? 0 : dst.valid_cols / kPairElements<Element>;
  merge_some<Element>(dst.data, all, most, until_one_ends);
  const auto taken = [&](int i) { return static_cast<uint16_t>(before[i] - all[i].left); };
  executed = {taken(0), taken(1), taken(2), taken(3)};
}

template <bool exhausted, typename Dst, typename Tmp, typename... Lists>
AICORE void merge_tiles(const BatonPlace& place, Dst& dst, pto::MrgSortExecutedNumList& executed, Tmp& tmp,
                        Lists&... lists) {
  static_assert(is_plain_vec<Dst> && Dst::Rows == 1, "TMRGSORT takes row-major Vec tiles of one row");
  static_assert(lies_in<Tmp, pto::TileType::Vec>, "tmp is a Vec tile");
  (require_list<Dst, Lists>(), ...);
  const TileView to(dst);
  const TileView views[] = {lists...};
  begin_merge(place, to, tmp, views, sizeof...(Lists));
  merge_lists<typename Dst::DType>(to, executed, views, sizeof...(Lists), exhausted);
}

}  // namespace baton::kernel

namespace pto {

/// Each 32 columns of src with their indices, sorted, as 32 pairs.
template <typename Dst, typename Src, typename Index>
AICORE RecordEvent TSORT32(Dst& dst, Src& src, Index& idx,
                           baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TSORT32", where);
  if (baton::kernel::kChecks && src.GetValidCol() % baton::kernel::kSorted != 0) {
    baton::kernel::fail(place, BATON_KERNEL_INVALID_ARGUMENT, "src has ", src.GetValidCol(),
                        " valid columns, not a multiple of 32; pass a tmp tile");
  }
  baton::kernel::require_sortable<Dst, Src, Index>();
  baton::kernel::sort_rows<typename Src::DType>(place, dst, src, idx);
  return {};
}

/// The same for any number of columns: the last pairs of the last block are minus infinity.
template <typename Dst, typename Src, typename Index, typename Tmp>
requires(baton::kernel::is_tile<Tmp>) AICORE RecordEvent
    TSORT32(Dst& dst, Src& src, Index& idx, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  require_sortable<Dst, Src, Index>();
  static_assert(lies_in<Tmp, TileType::Vec>, "tmp is a Vec tile");
  const BatonPlace place = place_of("TSORT32", where);
  const TileView from(src);
  const TileView indices(idx);
  lose_sorting_scratch(place, tmp, from, indices);
  sort_rows<typename Src::DType>(place, dst, from, indices);
  return {};
}
PTO_WITH_EVENTS(TSORT32)

/// Of each four runs of `len` elements (not pairs), each sorted, one.
template <typename Dst, typename Src>
AICORE RecordEvent TMRGSORT(Dst& dst, Src& src, uint32_t len,
                            baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  require_list<Dst, Src>();
  merge_runs<typename Src::DType>(place_of("TMRGSORT", where), dst, src, len);
  return {};
}

/// The sorted lists s0, s1 and so on as one; dst takes as many as its valid columns hold. With `exhausted`, stops when
/// a list ends; `executed` tells how many pairs of each were taken.
template <typename Dst, typename Tmp, typename S0, typename S1, bool exhausted>
AICORE RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& executed, Tmp& tmp, S0& s0, S1& s1,
                            baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::merge_tiles<exhausted>(baton::kernel::place_of("TMRGSORT", where), dst, executed, tmp, s0, s1);
  return {};
}
template <typename Dst, typename Tmp, typename S0, typename S1, typename S2, bool exhausted>
AICORE RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& executed, Tmp& tmp, S0& s0, S1& s1, S2& s2,
                            baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::merge_tiles<exhausted>(baton::kernel::place_of("TMRGSORT", where), dst, executed, tmp, s0, s1, s2);
  return {};
}
template <typename Dst, typename Tmp, typename S0, typename S1, typename S2, typename S3, bool exhausted>
AICORE RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& executed, Tmp& tmp, S0& s0, S1& s1, S2& s2, S3& s3,
                            baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::merge_tiles<exhausted>(baton::kernel::place_of("TMRGSORT", where), dst, executed, tmp, s0, s1, s2, s3);
  return {};
}

}  // namespace pto
