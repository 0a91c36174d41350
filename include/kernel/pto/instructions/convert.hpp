// TCVT: elements of one type as elements of another.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/elementwise.hpp>
#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/rounding.hpp>
#include <pto/instructions/scratch.hpp>

namespace baton::kernel {

template <typename Dst, typename Src>
constexpr AICORE bool can_convert() {
  if (std::is_same_v<Src, float>) return is_one_of<Dst, half, bfloat16_t, int16_t, int32_t, int64_t>;
  if (std::is_same_v<Src, half>) return is_one_of<Dst, float, int32_t, int16_t, int8_t, uint8_t>;
  if (std::is_same_v<Src, bfloat16_t>) return is_one_of<Dst, float, int32_t>;
  if (std::is_same_v<Src, int16_t>) return is_one_of<Dst, half, float>;
  if (std::is_same_v<Src, int32_t>) return is_one_of<Dst, float, half, int16_t, int64_t>;
  if (std::is_same_v<Src, int64_t>) return is_one_of<Dst, float, int32_t>;
  return is_one_of<Src, int8_t, uint8_t> && std::is_same_v<Dst, half>;
}

/// Conversions into 16 bits and fewer, and between integers, wrap unless asked otherwise.
template <typename Dst, typename Src>
constexpr AICORE pto::SaturationMode default_saturation() {
  const bool wraps = (std::is_same_v<Src, half> && is_one_of<Dst, int8_t, uint8_t>) ||
                     (is_vector_real<Src> && std::is_same_v<Dst, int16_t>) ||
                     (std::is_same_v<Src, int64_t> && std::is_same_v<Dst, int32_t>) ||
                     (std::is_same_v<Src, int32_t> && std::is_same_v<Dst, int16_t>);
  return wraps ? pto::SaturationMode::OFF : pto::SaturationMode::ON;
}

struct Conversion {
  pto::RoundMode mode;
  pto::SaturationMode saturation;
};

/// A lane has its piece in registers.
inline constexpr size_t kConvertPiece = kManyLanes ? 8 : 32;

template <typename Dst, typename Src>
inline constexpr bool is_exact_conversion = (is_whole<Src> && sizeof(Dst) > sizeof(Src)) ||
                                            (!is_whole<Src> && std::is_same_v<Dst, float>);

/// Floats as integers, a piece of them. They are lost.
template <typename Dst>
PTO_INLINE AICORE void convert_to_whole(Dst* after, float (&values)[kConvertPiece], Conversion how) {
  round_to_whole(values, how.mode);
  if (how.saturation == pto::SaturationMode::ON) {
    for (size_t k = 0; k < kConvertPiece; ++k) after[k] = saturate_to_whole<Dst>(values[k]);
  } else {
    for (size_t k = 0; k < kConvertPiece; ++k) after[k] = wrap_to_whole<Dst>(values[k]);
  }
}

/// Floats in a narrower format.
template <typename Dst>
PTO_SHARED AICORE void convert_to_narrow(Dst* __restrict to, const float* __restrict from, size_t pieces,
                                         Conversion how) {
  if (!rounds_to_nearest_even(how.mode)) {
    for (size_t k = 0; k < pieces * kConvertPiece; ++k) to[k] = narrow<Dst>(from[k], how.mode, how.saturation);
  } else if (how.saturation == pto::SaturationMode::OFF) {
    narrow_to_nearest(to, from, pieces * kConvertPiece);
  } else {
    for (; pieces > 0; --pieces, to += kConvertPiece, from += kConvertPiece) {
      narrow_saturating(*reinterpret_cast<Dst(*)[kConvertPiece]>(to),
                        *reinterpret_cast<const float(*)[kConvertPiece]>(from));
    }
  }
}

/// Whole pieces that share no bytes with what they are made of: a compiler need not take them through memory. Choices
/// that are the same for all elements are made outside the loops over them.
template <typename Dst, typename Src>
PTO_SHARED AICORE void convert_pieces(Dst* __restrict to, const Src* __restrict from, size_t pieces, Conversion how) {
  constexpr bool kToWhole = is_whole<Dst>;
  constexpr bool kFromWhole = is_whole<Src>;
  if constexpr (std::is_same_v<Dst, float> && !kFromWhole) {
    widen(to, from, pieces * kConvertPiece);
  } else if constexpr (std::is_same_v<Src, float> && !kToWhole) {
    convert_to_narrow(to, from, pieces, how);
  } else {
    for (; pieces > 0; --pieces, to += kConvertPiece, from += kConvertPiece) {
      if constexpr (kToWhole != kFromWhole && !is_exact_conversion<Dst, Src> && (kToWhole || sizeof(Src) == 4) &&
                    !std::is_same_v<Dst, float>) {
        // Through floats. Integers that are inexact there are far outside half's range.
        float wide[kConvertPiece];
        if constexpr (is_one_of<Src, half, bfloat16_t>) {
          widen<Src>(wide, from, kConvertPiece);
        } else {
          for (size_t k = 0; k < kConvertPiece; ++k) wide[k] = static_cast<float>(from[k]);
        }
        if constexpr (kToWhole) {
          convert_to_whole(to, wide, how);
        } else {
          convert_to_narrow<Dst>(to, wide, 1, how);
        }
      } else if constexpr (!is_exact_conversion<Dst, Src> && kFromWhole && kToWhole) {
        if (how.saturation == pto::SaturationMode::ON) {
          for (size_t k = 0; k < kConvertPiece; ++k) to[k] = saturate_whole<Dst>(from[k]);
        } else {
          for (size_t k = 0; k < kConvertPiece; ++k) to[k] = static_cast<Dst>(from[k]);
        }
      } else if (is_exact_conversion<Dst, Src> || rounds_to_nearest_even(how.mode)) {
        // No format is too small for integers that come here.
        PTO_VECTOR_LOOP
        for (size_t k = 0; k < kConvertPiece; ++k) to[k] = static_cast<Dst>(from[k]);
      } else if constexpr (!is_exact_conversion<Dst, Src> && !kToWhole) {
        for (size_t k = 0; k < kConvertPiece; ++k) to[k] = narrow<Dst>(from[k], how.mode, how.saturation);
      }
    }
  }
}

/// At most a piece of elements, which is read before it is written.
template <typename Dst, typename Src>
PTO_INLINE AICORE void convert_piece(Dst* to, const Src* from, size_t count, Conversion how) {
  Src before[kConvertPiece];
  Dst after[kConvertPiece];
  memset(static_cast<void*>(before), 0, sizeof before);
  memcpy(static_cast<void*>(before), static_cast<const void*>(from), count * sizeof(Src));
  convert_pieces<Dst, Src>(after, before, 1, how);
  memcpy(static_cast<void*>(to), static_cast<const void*>(after), count * sizeof(Dst));
}

/// How a piece in an aligned row is aligned.
template <typename Element>
inline constexpr size_t kPieceAlignment = kConvertPiece * sizeof(Element) < kLaneBytes ? kConvertPiece * sizeof(Element)
                                                                                       : size_t{kLaneBytes};

/// The same for a lane: a whole piece at once where rows are aligned.
template <typename Dst, typename Src>
PTO_INLINE AICORE void convert_piece_of_lane(Dst* to, const Src* from, uint32_t count, Conversion how,
                                             bool is_aligned) {
  Src before[kConvertPiece] = {};
  Dst after[kConvertPiece];
  const bool whole = is_aligned && count == kConvertPiece;
  if (whole) {
    memcpy(static_cast<void*>(before), __builtin_assume_aligned(static_cast<const void*>(from), kPieceAlignment<Src>),
           sizeof before);
  } else {
    PTO_UNROLL
    for (uint32_t k = 0; k < kConvertPiece; ++k) {
      if (k < count) before[k] = from[k];
    }
  }
  convert_pieces<Dst, Src>(after, before, 1, how);
  if (whole) {
    memcpy(__builtin_assume_aligned(static_cast<void*>(to), kPieceAlignment<Dst>), static_cast<const void*>(after),
           sizeof after);
  } else {
    PTO_UNROLL
    for (uint32_t k = 0; k < kConvertPiece; ++k) {
      if (k < count) to[k] = after[k];
    }
  }
}

/// A piece for each lane; rows share no bytes with what they are made of.
template <typename Dst, typename Src>
PTO_INLINE AICORE void convert_on_lanes(const Work& work, Conversion how) {
  on_lanes([how, to = static_cast<Dst*>(work.dst), pitch = work.pitch, rows = static_cast<uint32_t>(work.rows),
            cols = static_cast<uint32_t>(work.cols), from = static_cast<const Src*>(work.first.data),
            from_pitch = work.first.pitch,
            is_aligned = is_wide(work.dst, work.pitch * int64_t{sizeof(Dst)}) &&
                         is_wide(work.first.data, work.first.pitch * int64_t{sizeof(Src)})](Lanes lanes) {
    constexpr uint32_t kPieceOfLane = kConvertPiece;
    for_cells(lanes, rows, (cols + kPieceOfLane - 1) / kPieceOfLane,
              [&](uint32_t row, uint32_t index) PTO_INLINE_LAMBDA {
                const uint32_t col = index * kPieceOfLane;
                convert_piece_of_lane(to + row * pitch + col, from + row * from_pitch + col,
                                      cols - col < kPieceOfLane ? cols - col : kPieceOfLane, how, is_aligned);
              });
  });
}

/// Row by row. Where rows share bytes, a piece is read before it is written: narrowing in place works.
template <typename Dst, typename Src>
PTO_SHARED AICORE void convert_rows(const Work& work, Conversion how) {
  if constexpr (kManyLanes) {
    if (are_apart(work.dst, ((work.rows - 1) * work.pitch + work.cols) * int64_t{sizeof(Dst)}, work.first.data,
                  ((work.rows - 1) * work.first.pitch + work.cols) * int64_t{sizeof(Src)})) {
      return convert_on_lanes<Dst, Src>(work, how);
    }
  }
  for (int row = 0; row < work.rows; ++row) {
    auto* to = static_cast<Dst*>(work.dst) + row * work.pitch;
    const auto* from = static_cast<const Src*>(work.first.data) + row * work.first.pitch;
    auto left = static_cast<size_t>(work.cols);
    if (are_apart(to, work.cols * int64_t{sizeof(Dst)}, from, work.cols * int64_t{sizeof(Src)})) {
      const size_t whole = left / kConvertPiece * kConvertPiece;
      convert_pieces(to, from, whole / kConvertPiece, how);
      to += whole;
      from += whole;
      left -= whole;
    }
    while (left > 0) {
      const size_t here = left < kConvertPiece ? left : kConvertPiece;
      convert_piece(to, from, here, how);
      from += here;
      to += here;
      left -= here;
    }
  }
}

template <typename DstTile, typename SrcTile>
PTO_INLINE AICORE void convert(DstTile& dst, SrcTile& src, Conversion how, Where where) {
  using Dst = typename DstTile::DType;
  using Src = typename SrcTile::DType;
  static_assert(is_plain_vec<DstTile> && is_plain_vec<SrcTile>, "TCVT takes row-major Vec tiles");
  static_assert(can_convert<Dst, Src>(), "TCVT does not convert between these element types");
  if constexpr (!(std::is_same_v<Src, float> && std::is_same_v<Dst, half>)) {
    if (kChecks && how.mode == pto::RoundMode::CAST_ODD) {
      fail(place_of("TCVT", where), BATON_KERNEL_UNSUPPORTED, "CAST_ODD is for float to half only");
    }
  }
  convert_rows<Dst, Src>(begin_unary("TCVT", where, dst, src), how);
}

}  // namespace baton::kernel

namespace pto {

/// NeedSetCtrl speaks of a register that this implementation does not have.
template <bool NeedSetCtrl = true, typename Dst, typename Src>
AICORE RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode, SaturationMode saturation,
                        baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::convert(dst, src, {mode, saturation}, where);
  return {};
}
template <bool NeedSetCtrl = true, typename Dst, typename Src>
AICORE RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode,
                        baton::kernel::Where where = baton::kernel::Where::current()) {
  constexpr SaturationMode kDefault = baton::kernel::default_saturation<typename Dst::DType, typename Src::DType>();
  return TCVT<NeedSetCtrl>(dst, src, mode, kDefault, where);
}
template <bool NeedSetCtrl = true, typename Dst, typename Src, baton::kernel::Event... Events>
requires(sizeof...(Events) > 0) AICORE RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode, Events&... events) {
  (events.Wait(), ...);
  return TCVT<NeedSetCtrl>(dst, src, mode, baton::kernel::Where::unknown());
}
template <bool NeedSetCtrl = true, typename Dst, typename Src, baton::kernel::Event... Events>
requires(sizeof...(Events) > 0) AICORE RecordEvent
    TCVT(Dst& dst, Src& src, RoundMode mode, SaturationMode saturation, Events&... events) {
  (events.Wait(), ...);
  return TCVT<NeedSetCtrl>(dst, src, mode, saturation, baton::kernel::Where::unknown());
}

/// With a scratch tile, which is lost.
template <bool NeedSetCtrl = true, typename Dst, typename Src, typename Tmp>
requires(baton::kernel::is_tile<Tmp>) AICORE RecordEvent
    TCVT(Dst& dst, Src& src, Tmp& tmp, RoundMode mode, SaturationMode saturation,
         baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  static_assert(lies_in<Tmp, TileType::Vec>, "tmp is a Vec tile");
  lose_scratch(place_of("TCVT", where), tmp, src);
  return TCVT<NeedSetCtrl>(dst, src, mode, saturation, where);
}
template <bool NeedSetCtrl = true, typename Dst, typename Src, typename Tmp>
requires(baton::kernel::is_tile<Tmp>) AICORE RecordEvent
    TCVT(Dst& dst, Src& src, Tmp& tmp, RoundMode mode, baton::kernel::Where where = baton::kernel::Where::current()) {
  constexpr SaturationMode kDefault = baton::kernel::default_saturation<typename Dst::DType, typename Src::DType>();
  return TCVT<NeedSetCtrl>(dst, src, tmp, mode, kDefault, where);
}

}  // namespace pto
