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

  template <uint32_t kCount>
  __device__ __forceinline__ void load_steps(Value (&into)[kCount], const Element* of_lane, uint32_t first) const {
    PTO_UNROLL
    for (uint32_t k = 0; k < kCount; ++k) into[k] = widened(of_lane[(first + k) * kReducedLanes]);
  }
  template <uint32_t kCount>
  __device__ __forceinline__ Value fold_steps(Value value, Value (&some)[kCount]) const {
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
  /// Steps `first` to `first + kCount`, whose loads are on their way at once.
  template <uint32_t kCount>
  __device__ __forceinline__ Value fold(Value value, const Element* of_lane, uint32_t first) const {
    if constexpr (kCount == 0) {
      return value;
    } else {
      Value some[kCount];
      load_steps(some, of_lane, first);
      return fold_steps(value, some);
    }
  }

  __device__ __forceinline__ Value reduce(const Element* of_lane, uint32_t half) const {
    Value value = widened(of_lane[0]);
    if constexpr (kSteps > 1) {
      // The other half of a warp is a step ahead: the same step of two rows is in the same banks.
      constexpr uint32_t kTogether = 16;
      constexpr uint32_t kCount = kSteps - 2;
      constexpr uint32_t kBatches = kCount / kTogether;
      if (half != 0) value = fold<1>(value, of_lane, 1);
      uint32_t step = 1 + half;
      if constexpr (kBatches != 0) {
        // Those of a batch are on their way while the one before is added.
        Value batch[kTogether];
        load_steps(batch, of_lane, step);
        PTO_ROLLED
        for (uint32_t i = 1; i < kBatches; ++i) {
          Value next[kTogether];
          step += kTogether;
          load_steps(next, of_lane, step);
          value = fold_steps(value, batch);
          PTO_UNROLL
          for (uint32_t k = 0; k < kTogether; ++k) batch[k] = next[k];
        }
        value = fold_steps(value, batch);
        step += kTogether;
      }
      value = fold<kCount % kTogether>(value, of_lane, step);
      if (half == 0) value = fold<1>(value, of_lane, kSteps - 1);
    }
    return value;
  }

  /// What is associative, by whole warps. Each has a row, of which groups of lanes have neighbouring steps, and lanes
  /// pieces of a step: a lane's elements, those of the groups and what is side by side come together in their order.
  static constexpr uint32_t kPiece = kLanePiece<Element>;
  static constexpr uint32_t kOfStep = kReducedLanes / kPiece;  // lanes
  static constexpr uint32_t kGroups = 32 / kOfStep;
  static constexpr bool kByWarps = is_associative<Operation> && kSteps % kGroups == 0;

  /// The largest or smallest number by the instruction for it, which makes one NaN of all, and takes either of two
  /// zeros. So false: it is a NaN or a zero, whose bits depend on the order.
  static constexpr bool kHasInstruction = kByWarps && std::is_same_v<Value, float>;
  __device__ __forceinline__ static float choose(float a, float b) {
    float chosen;
    if constexpr (std::is_same_v<Operation, LargerNumber>) {
      asm("max.NaN.f32 %0, %1, %2;" : "=f"(chosen) : "f"(a), "f"(b));
    } else {
      asm("min.NaN.f32 %0, %1, %2;" : "=f"(chosen) : "f"(a), "f"(b));
    }
    return chosen;
  }
  __device__ __forceinline__ bool find_by_warp(float& found, const Element* row, uint32_t lane) const {
    constexpr uint32_t kOfLane = kCols / kPiece / kTeam;
    constexpr uint32_t kTogether = kOfLane < 8 ? kOfLane : 8;
    const auto of_piece = [](const Element(&piece)[kPiece]) {
      float value = widened(piece[0]);
      PTO_UNROLL
      for (uint32_t k = 1; k < kPiece; ++k) value = choose(value, widened(piece[k]));
      return value;
    };
    const Element* from = row + lane * kPiece;
    const auto of_some = [&](auto together, uint32_t first) {
      constexpr uint32_t kCount = decltype(together)::value;
      Element pieces[kCount][kPiece];
      PTO_UNROLL
      for (uint32_t i = 0; i < kCount; ++i) load_wide(pieces[i], from + (first + i) * (kTeam * kPiece));
      float value = of_piece(pieces[0]);
      PTO_UNROLL
      for (uint32_t i = 1; i < kCount; ++i) value = choose(value, of_piece(pieces[i]));
      return value;
    };
    float value = of_some(Number<kTogether>{}, 0);
    PTO_ROLLED
    for (uint32_t i = kTogether; i + kTogether <= kOfLane; i += kTogether) {
      value = choose(value, of_some(Number<kTogether>{}, i));
    }
    constexpr uint32_t kRest = kOfLane % kTogether;
    if constexpr (kRest != 0) value = choose(value, of_some(Number<kRest>{}, kOfLane - kRest));
    PTO_UNROLL
    for (uint32_t apart = 16; apart > 0; apart /= 2) value = choose(value, __shfl_xor_sync(~0u, value, apart));
    found = value;
    return value < 0 || value > 0;
  }

  __device__ __forceinline__ Value reduce_by_warp(const Element* row, uint32_t lane) const {
    constexpr uint32_t kOfGroup = kSteps / kGroups;
    constexpr uint32_t kTogether = 4;
    const Element* from = row + lane / kOfStep * (kOfGroup * kReducedLanes) + lane % kOfStep * kPiece;
    Value values[kPiece];
    const auto add = [&](const Element(&piece)[kPiece]) {
      PTO_UNROLL
      for (uint32_t k = 0; k < kPiece; ++k) values[k] = operation(values[k], widened(piece[k]));
    };
    Element piece[kTogether][kPiece];
    load_wide(piece[0], from);
    PTO_UNROLL
    for (uint32_t k = 0; k < kPiece; ++k) values[k] = widened(piece[0][k]);
    uint32_t step = 1;
#pragma unroll 1
    for (; step + kTogether <= kOfGroup; step += kTogether) {
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) load_wide(piece[i], from + (step + i) * kReducedLanes);
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) add(piece[i]);
    }
    constexpr uint32_t kLeft = (kOfGroup - 1) % kTogether;
    PTO_UNROLL
    for (uint32_t i = 0; i < kLeft; ++i) load_wide(piece[i], from + (step + i) * kReducedLanes);
    PTO_UNROLL
    for (uint32_t i = 0; i < kLeft; ++i) add(piece[i]);
    const auto fold_lanes_apart = [&](uint32_t apart) {
      PTO_UNROLL
      for (uint32_t k = 0; k < kPiece; ++k) {
        values[k] = operation(values[k], static_cast<Value>(__shfl_down_sync(~0u, values[k], apart)));
      }
    };
    PTO_UNROLL
    for (uint32_t apart = kOfStep; apart < 32; apart *= 2) fold_lanes_apart(apart);
    PTO_UNROLL
    for (uint32_t apart = kOfStep / 2; apart > 0; apart /= 2) fold_lanes_apart(apart);
    PTO_UNROLL
    for (uint32_t half = kPiece / 2; half > 0; half /= 2) {
      PTO_UNROLL
      for (uint32_t k = 0; k < half; ++k) values[k] = operation(values[k], values[k + half]);
    }
    return values[0];
  }

  __device__ __forceinline__ void operator()(Lanes lanes) const {
    if constexpr (kByWarps) {
      PTO_ROLLED
      for (uint32_t row = lanes.lane / 32; row < kRows; row += lanes.count / 32) {
        const Element* const from = src.get() + row * uint32_t{Src::Cols};
        Value value;
        bool is_found = false;
        if constexpr (kHasInstruction) is_found = find_by_warp(value, from, lanes.lane % 32);
        if (!is_found) value = reduce_by_warp(from, lanes.lane % 32);
        if (lanes.lane % 32 == 0) dst.get()[row * kDstPitch] = static_cast<Element>(value);
      }
    } else {
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
    if (is_watched() || !is_placed(dst) || !is_placed(src) || !is_apart_from(src, dst.data(), kDstBytes)) {
      return false;
    }
    if (kChecks && !(is_placed(tmp) && is_apart_from(src, tmp.data(), kTmpBytes) &&
                     is_apart_from(dst, tmp.data(), kTmpBytes) && are_wide(tmp))) {
      return false;
    }
    using Element = typename Src::DType;
    post_to_lanes(RowReduction<Operation, Dst, Src>{VecAddress<Element>(dst.data()), VecAddress<Element>(src.data()),
                                                    VecAddress<Element>(tmp.data()), operation});
    return true;
  } else {
    return false;
  }
}

}  // namespace baton::kernel
