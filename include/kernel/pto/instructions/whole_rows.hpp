// Reductions of rows of tiles whose sizes their types say, as many lanes carry them out.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/reduce_row.hpp>
#include <pto/instructions/whole_pieces.hpp>

namespace baton::kernel {

/// Row by row: kReducedLanes sums side by side, each the sum of every kReducedLanes-th element, and then across. On a
/// GPU each of them is a lane; on a host a lane has the row.
template <typename Operation, typename Dst, typename Src>
struct RowReduction {
  using Element = typename Src::DType;
  static constexpr uint32_t kRows = Src::ValidRow;
  static constexpr uint32_t kCols = Src::ValidCol;
  static constexpr uint32_t kDstPitch = Dst::isRowMajor ? Dst::Cols : 1;
  VecAddress<Element> dst;
  VecAddress<Element> src;
  VecAddress<Element> scratch;
  Operation operation;

#if defined(__CUDACC__)
  using Value = Computed<Element>;
  static constexpr uint32_t kSteps = kCols / kReducedLanes;

  /// Steps `first` to `first + kCount` of a sum, whose loads are on their way at once.
  template <uint32_t kCount>
  __device__ __forceinline__ Value fold(Value value, const Element* of_lane, uint32_t first) const {
    if constexpr (kCount == 0) return value;
    Value some[kCount == 0 ? 1 : kCount];
    PTO_UNROLL
    for (uint32_t k = 0; k < kCount; ++k) some[k] = widened(of_lane[(first + k) * kReducedLanes]);
    if constexpr (is_associative<Operation>) {
      PTO_UNROLL
      for (uint32_t apart = 1; apart < kCount; apart *= 2) {
        PTO_UNROLL
        for (uint32_t k = 0; k + apart < kCount; k += 2 * apart) some[k] = operation(some[k], some[k + apart]);
      }
      return operation(value, some[0]);
    } else {
      PTO_UNROLL
      for (uint32_t k = 0; k < kCount; ++k) value = operation(value, some[k]);
      return value;
    }
  }

  __device__ __forceinline__ Value reduce(const Element* of_lane, uint32_t half) const {
    Value value = widened(of_lane[0]);
    if constexpr (kSteps > 1) {
      // The other half of a warp is a step ahead: the same step of two rows is in the same banks.
      constexpr uint32_t kTogether = 16;
      constexpr uint32_t kCount = kSteps - 2;
      if (half != 0) value = fold<1>(value, of_lane, 1);
      uint32_t step = 1 + half;
      for (const uint32_t end = step + kCount / kTogether * kTogether; step != end; step += kTogether) {
        value = fold<kTogether>(value, of_lane, step);
      }
      value = fold<kCount % kTogether>(value, of_lane, step);
      if (half == 0) value = fold<1>(value, of_lane, kSteps - 1);
    }
    return value;
  }

  __device__ __forceinline__ void operator()(Lanes lanes) const {
    const uint32_t lane = lanes.lane % kReducedLanes;
    const uint32_t half = lanes.lane / kReducedLanes % 2;
    const uint32_t together = 0xffffu << (half * kReducedLanes);
    for (uint32_t row = lanes.lane / kReducedLanes; row < kRows; row += lanes.count / kReducedLanes) {
      Value value = reduce(src.get() + row * uint32_t{Src::Cols} + lane, half);
      PTO_UNROLL
      for (int apart = kReducedLanes / 2; apart > 0; apart /= 2) {
        value = operation(value, static_cast<Value>(__shfl_down_sync(together, value, apart, kReducedLanes)));
      }
      if (lane == 0) dst.get()[row * kDstPitch] = static_cast<Element>(value);
    }
    if (kChecks && lanes.lane == lanes.count - 1) lose_first_bytes(scratch.get());
  }
#else
  PTO_INLINE AICORE void operator()(Lanes lanes) const {
    for (uint32_t row = lanes.lane; row < kRows; row += lanes.count) {
      dst.get()[row * kDstPitch] = reduce_row(operation, src.get() + row * uint32_t{Src::Cols}, kCols);
    }
    if (kChecks && lanes.lane == lanes.count - 1) lose_first_bytes(scratch.get());
  }
#endif
};

template <typename Dst, typename Src, typename Tmp>
inline constexpr bool are_whole_rows =
    kManyLanes&& is_sized<Dst>&& is_sized<Src>&& is_sized<Tmp> && !Dst::isBoxedLayout && is_plain_vec<Src> &&
    is_plain_vec<Tmp> && Dst::ValidRow == Src::ValidRow && Src::ValidCol % kReducedLanes == 0 &&
    Tmp::ValidCol * sizeof(typename Tmp::DType) >= kLaneBytes;

template <typename TileData>
PTO_INLINE AICORE bool is_apart_from(const TileData& tile, const void* other, int64_t bytes) {
  return are_apart(tile.data(), int64_t{TileData::Numel} * int64_t{sizeof(typename TileData::DType)}, other, bytes);
}

/// False: these tiles go the long way. `tmp` is lost.
template <typename Operation, typename Dst, typename Src, typename Tmp>
PTO_INLINE AICORE bool reduce_whole_rows(Operation operation, const Dst& dst, const Src& src, const Tmp& tmp) {
  if constexpr (are_whole_rows<Dst, Src, Tmp>) {
    constexpr int64_t kDstBytes = int64_t{Dst::Numel} * int64_t{sizeof(typename Dst::DType)};
    constexpr int64_t kTmpBytes = int64_t{Tmp::Numel} * int64_t{sizeof(typename Tmp::DType)};
    if (watching_core() != nullptr || !is_placed(dst) || !is_placed(src) ||
        !is_apart_from(src, dst.data(), kDstBytes)) {
      return false;
    }
    if (kChecks && !(is_placed(tmp) && is_apart_from(src, tmp.data(), kTmpBytes) &&
                     is_apart_from(dst, tmp.data(), kTmpBytes) && are_wide(tmp))) {
      return false;
    }
    using Element = typename Src::DType;
    on_lanes(RowReduction<Operation, Dst, Src>{VecAddress<Element>(dst.data()), VecAddress<Element>(src.data()),
                                               VecAddress<Element>(tmp.data()), operation});
    return true;
  } else {
    return false;
  }
}

}  // namespace baton::kernel
