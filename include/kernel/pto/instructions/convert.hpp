// TCVT: elements of one type as elements of another.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/elementwise.hpp>
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

inline constexpr size_t kConvertPiece = 32;

/// function(piece of dst, piece of src) for each piece but the last, if that is smaller. They share no bytes: what a
/// compiler keeps in registers need not pass through memory. Returns how many elements that is.
template <typename Dst, typename Src, typename Function>
PTO_INLINE AICORE size_t convert_apart(Dst* __restrict dst, const Src* __restrict src, size_t count,
                                       Function function) {
  size_t i = 0;
  for (; i + kConvertPiece <= count; i += kConvertPiece) {
    const auto& before = *reinterpret_cast<const Src(*)[kConvertPiece]>(src + i);
#if defined(__clang__)
    Dst after[kConvertPiece];
    function(after, before);
    memcpy(static_cast<void*>(dst + i), static_cast<const void*>(after), sizeof after);
#else
    function(*reinterpret_cast<Dst(*)[kConvertPiece]>(dst + i), before);
#endif
  }
  return i;
}

/// function(piece of dst, piece of src) for all elements. A piece is read before it is written: narrowing in place
/// works.
template <typename Dst, typename Src, typename Function>
PTO_INLINE AICORE void convert_pieces(Dst* dst, const Src* src, size_t count, Function function) {
  const auto* dst_bytes = reinterpret_cast<const unsigned char*>(dst);
  const auto* src_bytes = reinterpret_cast<const unsigned char*>(src);
  const bool apart = dst_bytes + count * sizeof(Dst) <= src_bytes || src_bytes + count * sizeof(Src) <= dst_bytes;
  size_t i = apart ? convert_apart(dst, src, count, function) : 0;
  for (; i + kConvertPiece <= count; i += kConvertPiece) {
    Src before[kConvertPiece];
    Dst after[kConvertPiece];
    memcpy(static_cast<void*>(before), static_cast<const void*>(src + i), sizeof before);
    function(after, before);
    memcpy(static_cast<void*>(dst + i), static_cast<const void*>(after), sizeof after);
  }
  if (i == count) return;
  Src before[kConvertPiece] = {};
  Dst after[kConvertPiece];
  memcpy(static_cast<void*>(before), static_cast<const void*>(src + i), (count - i) * sizeof(Src));
  function(after, before);
  memcpy(static_cast<void*>(dst + i), static_cast<const void*>(after), (count - i) * sizeof(Dst));
}

/// Applies a function of one element to each of a piece.
template <typename Function>
PTO_INLINE AICORE auto to_each(Function function) {
  return [function](auto& after, const auto& before) PTO_INLINE_LAMBDA {
    PTO_VECTOR_LOOP
    for (size_t k = 0; k < kConvertPiece; ++k) after[k] = function(before[k]);
  };
}

/// Choices that are the same for all elements are made outside the loops over them.
template <typename Dst, typename Src>
AICORE void convert_run(Dst* dst, const Src* src, size_t count, Conversion how) {
  constexpr bool kToWhole = is_whole<Dst>;
  constexpr bool kFromWhole = is_whole<Src>;
  constexpr bool kExact = (kFromWhole && kToWhole && sizeof(Dst) > sizeof(Src)) ||
                          (kFromWhole && !kToWhole && sizeof(Dst) > sizeof(Src)) ||
                          (!kFromWhole && std::is_same_v<Dst, float>);
  const bool saturates = how.saturation == pto::SaturationMode::ON;
  const auto cast = [](Src value) PTO_INLINE_LAMBDA { return static_cast<Dst>(value); };
  if constexpr (kFromWhole && std::is_same_v<Dst, half> && sizeof(Src) == 4) {
    // As floats: those that are inexact there are far outside half's range.
    convert_pieces(dst, src, count, [how, saturates](auto& after, const auto& before) PTO_INLINE_LAMBDA {
      float wide[kConvertPiece];
      for (size_t k = 0; k < kConvertPiece; ++k) wide[k] = static_cast<float>(before[k]);
      if (!rounds_to_nearest_even(how.mode)) {
        for (size_t k = 0; k < kConvertPiece; ++k) after[k] = narrow<Dst>(wide[k], how.mode, how.saturation);
      } else if (saturates) {
        narrow_saturating(after, wide);
      } else {
        for (size_t k = 0; k < kConvertPiece; ++k) after[k] = static_cast<Dst>(wide[k]);
      }
    });
  } else if constexpr (kExact) {
    convert_pieces(dst, src, count, to_each(cast));
  } else if constexpr (kFromWhole && kToWhole) {
    if (!saturates) return convert_pieces(dst, src, count, to_each(cast));
    convert_pieces(dst, src, count, to_each([](Src value) PTO_INLINE_LAMBDA { return saturate_whole<Dst>(value); }));
  } else if constexpr (kToWhole) {
    convert_pieces(dst, src, count, [how, saturates](auto& after, const auto& before) PTO_INLINE_LAMBDA {
      float whole[kConvertPiece];
      for (size_t k = 0; k < kConvertPiece; ++k) whole[k] = static_cast<float>(before[k]);
      round_to_whole(whole, how.mode);
      if (saturates) {
        for (size_t k = 0; k < kConvertPiece; ++k) after[k] = saturate_to_whole<Dst>(whole[k]);
      } else {
        for (size_t k = 0; k < kConvertPiece; ++k) after[k] = wrap_to_whole<Dst>(whole[k]);
      }
    });
  } else if (!rounds_to_nearest_even(how.mode)) {
    convert_pieces(dst, src, count, to_each([how](Src value) { return narrow<Dst>(value, how.mode, how.saturation); }));
  } else if constexpr (kFromWhole) {
    convert_pieces(dst, src, count, to_each(cast));  // no format is too small for these numbers
  } else {
    if (!saturates) return convert_pieces(dst, src, count, to_each(cast));
    convert_pieces(dst, src, count,
                   [](auto& after, const auto& before) PTO_INLINE_LAMBDA { narrow_saturating(after, before); });
  }
}

template <typename DstTile, typename SrcTile>
AICORE void convert(DstTile& dst, SrcTile& src, Conversion how, Where where) {
  using Dst = typename DstTile::DType;
  using Src = typename SrcTile::DType;
  static_assert(is_plain_vec<DstTile> && is_plain_vec<SrcTile>, "TCVT takes row-major Vec tiles");
  static_assert(can_convert<Dst, Src>(), "TCVT does not convert between these element types");
  const BatonPlace place = place_of("TCVT", where);
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_same_valid(place, "dst", dst, "src", src);
  if constexpr (!(std::is_same_v<Src, float> && std::is_same_v<Dst, half>)) {
    if (kChecks && how.mode == pto::RoundMode::CAST_ODD) {
      fail(place, BATON_KERNEL_UNSUPPORTED, "CAST_ODD is for float to half only");
    }
  }
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst));
  const auto cols = static_cast<size_t>(src.GetValidCol());
  for (int row = 0; row < src.GetValidRow(); ++row) {
    convert_run(dst.data() + row * DstTile::Cols, src.data() + row * SrcTile::Cols, cols, how);
  }
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
  const BatonPlace place = place_of("TCVT", where);
  check_scratch(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  issue(place, pipe_bit(PIPE_V), scratch_range(tmp));
  clobber(tmp);
  return TCVT<NeedSetCtrl>(dst, src, mode, saturation, where);
}
template <bool NeedSetCtrl = true, typename Dst, typename Src, typename Tmp>
requires(baton::kernel::is_tile<Tmp>) AICORE RecordEvent
    TCVT(Dst& dst, Src& src, Tmp& tmp, RoundMode mode, baton::kernel::Where where = baton::kernel::Where::current()) {
  constexpr SaturationMode kDefault = baton::kernel::default_saturation<typename Dst::DType, typename Src::DType>();
  return TCVT<NeedSetCtrl>(dst, src, tmp, mode, kDefault, where);
}

}  // namespace pto
