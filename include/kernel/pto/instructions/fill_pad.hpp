// TFILLPAD and its forms: a tile's elements, and its pad value where the source has none.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/elementwise.hpp>

namespace baton::kernel {

/// The smallest and the largest number: of floats the infinities.
template <typename Element>
constexpr AICORE Element smallest_number() {
  if constexpr (std::is_same_v<Element, float>) {
    return -__builtin_inff();
  } else if constexpr (std::is_same_v<Element, half>) {
    return half::from_bits(0xfc00);
  } else if constexpr (std::is_same_v<Element, bfloat16_t>) {
    return bfloat16_t::from_bits(0xff80);
  } else if constexpr (static_cast<Element>(-1) < static_cast<Element>(0)) {
    return static_cast<Element>(uint64_t{1} << (sizeof(Element) * 8 - 1));
  } else {
    return Element{0};
  }
}

template <typename Element>
constexpr AICORE Element largest_number() {
  if constexpr (std::is_same_v<Element, float>) {
    return __builtin_inff();
  } else if constexpr (std::is_same_v<Element, half>) {
    return half::from_bits(0x7c00);
  } else if constexpr (std::is_same_v<Element, bfloat16_t>) {
    return bfloat16_t::from_bits(0x7f80);
  } else {
    return static_cast<Element>(~static_cast<uint64_t>(smallest_number<Element>()));
  }
}

template <typename TileData>
constexpr AICORE typename TileData::DType pad_of() {
  using Element = typename TileData::DType;
  if constexpr (TileData::PadVal == pto::PadValue::Min) {
    return smallest_number<Element>();
  } else if constexpr (TileData::PadVal == pto::PadValue::Max) {
    return largest_number<Element>();
  } else {
    return Element(0);
  }
}

/// `pad` is an element.
PTO_ONCE PTO_SHARED AICORE void fill_pad_bytes(const BatonPlace& place, const TileView& dst, const TileView& src,
                                               const void* pad) {
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst));
  const int rows = dst.valid_rows;
  const int cols = dst.valid_cols;
  const int kept_cols = src.valid_cols < cols ? src.valid_cols : cols;
  const int kept_rows = src.valid_rows < rows ? src.valid_rows : rows;
  const size_t element_bytes = dst.order.element_bytes;
  // Lines of the wider one lie further on: from the last one on, none is overwritten before it is read.
  const int64_t to_pitch = dst.order.cols * int64_t{dst.order.element_bytes};
  const int64_t from_pitch = src.order.cols * int64_t{src.order.element_bytes};
  for (int64_t row = kept_rows - 1; row >= 0; --row) {
    move_bytes(dst.data + row * to_pitch, src.data + row * from_pitch, static_cast<size_t>(kept_cols) * element_bytes);
  }
  Pattern pattern;
  repeat(pattern, pad, element_bytes);
  unsigned char* to = dst.data;
  for (int row = 0; row < rows; ++row, to += to_pitch) {
    const auto first = static_cast<size_t>(row < kept_rows ? kept_cols : 0);
    fill_bytes(to + first * element_bytes, (static_cast<size_t>(cols) - first) * element_bytes, pattern);
  }
}

template <typename Dst, typename Src>
PTO_INLINE AICORE void fill_pad(const BatonPlace& place, Dst& dst, Src& src) {
  using Element = typename Dst::DType;
  static_assert(is_plain_vec<Dst> && is_plain_vec<Src>, "TFILLPAD takes row-major Vec tiles");
  static_assert(sizeof(Element) == sizeof(typename Src::DType) && sizeof(Element) <= 4,
                "TFILLPAD: elements have equal sizes of 1, 2 or 4 bytes");
  static_assert(Dst::PadVal != pto::PadValue::Null, "TFILLPAD: dst's type has no pad value");
  const Element pad = pad_of<Dst>();
  fill_pad_bytes(place, dst, src, &pad);
}

}  // namespace baton::kernel

namespace pto {

/// dst = src inside src's valid region, dst's pad value elsewhere in dst's.
template <typename Dst, typename Src>
AICORE RecordEvent TFILLPAD(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(Dst::Rows == Src::Rows && Dst::Cols == Src::Cols, "TFILLPAD: dst and src have equal Rows and Cols");
  baton::kernel::fill_pad(baton::kernel::place_of("TFILLPAD", where), dst, src);
  return {};
}
PTO_WITH_EVENTS(TFILLPAD)

/// The same where dst lies on src.
template <typename Dst, typename Src>
AICORE RecordEvent TFILLPAD_INPLACE(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(Dst::Rows == Src::Rows && Dst::Cols == Src::Cols,
                "TFILLPAD_INPLACE: dst and src have equal Rows and Cols");
  const BatonPlace place = baton::kernel::place_of("TFILLPAD_INPLACE", where);
  if (baton::kernel::kChecks && static_cast<const void*>(dst.data()) != static_cast<const void*>(src.data())) {
    baton::kernel::fail(place, BATON_KERNEL_INVALID_ARGUMENT, "dst and src are at different places");
  }
  baton::kernel::fill_pad(place, dst, src);
  return {};
}
PTO_WITH_EVENTS(TFILLPAD_INPLACE)

/// The same into a tile that may be larger.
template <typename Dst, typename Src>
AICORE RecordEvent TFILLPAD_EXPAND(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(Dst::Rows >= Src::Rows && Dst::Cols >= Src::Cols,
                "TFILLPAD_EXPAND: dst has src's Rows and Cols at least");
  baton::kernel::fill_pad(baton::kernel::place_of("TFILLPAD_EXPAND", where), dst, src);
  return {};
}
PTO_WITH_EVENTS(TFILLPAD_EXPAND)

}  // namespace pto
