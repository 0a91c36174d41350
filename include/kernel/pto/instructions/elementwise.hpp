// Elementwise instructions: dst(r, c) from the sources at (r, c). A destination may be a source.
//
// Operands are checked and described in one place, without types; what is compiled for each operation and element type
// is the loop over elements. It knows one form of source: a line for each row, or a few elements that repeat. So a tile
// combined with a tile, a number, a column or a row is one loop.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/events.hpp>
#include <pto/instructions/lane_pieces.hpp>
#include <pto/instructions/numbers.hpp>
#include <pto/instructions/operands.hpp>
#include <pto/instructions/whole_pieces.hpp>
#include <pto/instructions/wide_pieces.hpp>
#include <pto/target/vector_loop.hpp>

namespace baton::kernel {

PTO_INLINE AICORE Source lines_of(const TileView& tile) { return {tile.data, tile.order.cols, 0}; }

/// All rows as one, where none has gaps behind it.
PTO_INLINE AICORE bool is_gapless(const Source& source, int32_t cols) {
  return source.period == 0 ? source.pitch == cols : source.pitch == 0;
}

PTO_INLINE AICORE Work work_on(const TileView& dst, const Source& first, const Source& second) {
  Work work{dst.data, dst.order.cols, dst.valid_rows, dst.valid_cols, first, second};
  if (work.pitch == work.cols && is_gapless(first, work.cols) && is_gapless(second, work.cols)) {
    work.cols *= work.rows;
    work.rows = work.rows > 0 ? 1 : 0;
  }
  return work;
}

// Says what is wrong with tiles that were refused. Takes copies, as all that is seldom called.
PTO_ONCE PTO_COLD AICORE void refuse_unary(BatonPlace place, TileView dst, TileView src) {
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_same_valid(place, "dst", dst, "src", src);
}
PTO_ONCE PTO_COLD AICORE void refuse_binary(BatonPlace place, TileView dst, TileView first, TileView second) {
  check_tile(place, "dst", dst);
  check_tile(place, "src0", first);
  check_tile(place, "src1", second);
  check_same_valid(place, "dst", dst, "src0", first);
  check_same_valid(place, "dst", dst, "src1", second);
}

/// Checks the tiles, tells the core, and describes the work.
PTO_ONCE PTO_SHARED AICORE Work begin_unary(const char* name, Where where, const TileView& dst, const TileView& src) {
  const BatonPlace place = place_of(name, where);
  if (kChecks && !(is_usable(dst) && is_usable(src) && have_same_valid(dst, src))) refuse_unary(place, dst, src);
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst));
  return work_on(dst, lines_of(src), lines_of(src));
}

PTO_ONCE PTO_SHARED AICORE Work begin_binary(const char* name, Where where, const TileView& dst, const TileView& first,
                                             const TileView& second) {
  const BatonPlace place = place_of(name, where);
  if (kChecks && !(is_usable(dst) && is_usable(first) && is_usable(second) && have_same_valid(dst, first) &&
                   have_same_valid(dst, second))) {
    refuse_binary(place, dst, first, second);
  }
  issue(place, pipe_bit(PIPE_V), reads(first), reads(second), writes(dst));
  return work_on(dst, lines_of(first), lines_of(second));
}

/// The second operand is one number for all elements.
PTO_ONCE PTO_SHARED AICORE Work begin_with_scalar(const char* name, Where where, const TileView& dst,
                                                  const TileView& src, const void* scalar) {
  const BatonPlace place = place_of(name, where);
  if (kChecks && !(is_usable(dst) && is_usable(src) && have_same_valid(dst, src))) refuse_unary(place, dst, src);
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst));
  return work_on(dst, lines_of(src), {scalar, 0, 1});
}

/// The elements of one row: from piece to piece `step` further, 0 for the same piece again.
template <typename Number>
struct Line {
  const Number* at;
  size_t step;
};

/// A piece of what repeats from `at` on.
template <typename Element>
PTO_INLINE AICORE const Element* piece_of(const Source& source, const Element* at, Pattern& pattern) {
  auto* const piece = reinterpret_cast<Element*>(pattern.bytes);
  if (source.period == 1) {
    const Element element = *at;
    store_piece(piece, [=](size_t) PTO_INLINE_LAMBDA { return element; });
  } else {
    repeat_bytes<pto::BLOCK_BYTE_SIZE>(pattern, at);
  }
  return piece;
}

template <typename Element>
PTO_INLINE AICORE Line<Element> line_of(const Source& source, int row, Pattern& pattern) {
  const auto* at = static_cast<const Element*>(source.data) + row * source.pitch;
  if (source.period == 0) return {at, kPiece<Element>};
  return {piece_of(source, at, pattern), 0};
}

/// dst[i] = operation(a[i], b[i]).
template <typename Operation, typename Number>
PTO_INLINE AICORE void combine_run(Operation operation, Number* dst, size_t count, Line<Number> a, Line<Number> b) {
  Number* const end = dst + count / kPiece<Number> * kPiece<Number>;
  for (; dst != end; dst += kPiece<Number>, a.at += a.step, b.at += b.step) {
    store_piece(dst, [=](size_t k) PTO_INLINE_LAMBDA { return operation(a.at[k], b.at[k]); });
  }
  for (size_t k = 0; k < count % kPiece<Number>; ++k) dst[k] = operation(a.at[k], b.at[k]);
}

/// The same for all rows, where the compiler knows which source repeats, if one does: with steps that it does not know
/// a row of four pieces takes twice the instructions.
template <typename Number, size_t first_step, size_t second_step, typename Operation>
PTO_INLINE AICORE void combine_rows(const Work& work, Operation operation) {
  auto* dst = static_cast<Number*>(work.dst);
  const auto* first = static_cast<const Number*>(work.first.data);
  const auto* second = static_cast<const Number*>(work.second.data);
  for (int row = 0; row < work.rows; ++row) {
    Pattern pattern;
    const Line<Number> a{first_step == 0 ? piece_of(work.first, first, pattern) : first, first_step};
    const Line<Number> b{second_step == 0 ? piece_of(work.second, second, pattern) : second, second_step};
    combine_run(operation, dst, static_cast<size_t>(work.cols), a, b);
    dst += work.pitch;
    first += work.first.pitch;
    second += work.second.pitch;
  }
}

/// The same of what is not calculated with as it is: through wide pieces.
template <typename Element, typename Operation>
PTO_INLINE AICORE void combine_wide_rows(const Work& work, Operation operation) {
  const auto cols = static_cast<size_t>(work.cols);
  for (int row = 0; row < work.rows; ++row) {
    Pattern patterns[2];
    Element* const dst = static_cast<Element*>(work.dst) + row * work.pitch;
    const Line<Element> a = line_of<Element>(work.first, row, patterns[0]);
    const Line<Element> b = line_of<Element>(work.second, row, patterns[1]);
    for (size_t done = 0; done < cols; done += kWidePiece) {
      const size_t here = cols - done < kWidePiece ? cols - done : kWidePiece;
      float wide[3][kWidePiece];
      widen(wide[0], a.step == 0 ? a.at : a.at + done, a.step == 0 ? kPiece<float> : here);
      widen(wide[1], b.step == 0 ? b.at : b.at + done, b.step == 0 ? kPiece<float> : here);
      combine_run<Operation, float>(operation, wide[2], here, {wide[0], a.step == 0 ? 0 : kPiece<float>},
                                    {wide[1], b.step == 0 ? 0 : kPiece<float>});
      narrow_to_nearest(dst + done, wide[2], here);
    }
  }
}

/// dst = operation(first, second), for each element. At most one of the sources repeats.
template <typename Element, typename Operation>
PTO_SHARED AICORE void combine(const Work& work, Operation operation) {
  if constexpr (kManyLanes) {
    combine_on_lanes<Element>(work, operation);
  } else if constexpr (!std::is_same_v<Element, Computed<Element>>) {
    combine_wide_rows<Element>(work, operation);
  } else if (work.first.period != 0) {
    combine_rows<Element, 0, kPiece<Element>>(work, operation);
  } else if (work.second.period != 0) {
    combine_rows<Element, kPiece<Element>, 0>(work, operation);
  } else {
    combine_rows<Element, kPiece<Element>, kPiece<Element>>(work, operation);
  }
}

/// dst[i] = operation(src[i]).
template <typename Operation, typename Number>
PTO_INLINE AICORE void apply_run(Operation operation, Number* dst, size_t count, const Number* src) {
  size_t done = 0;
  for (; done + kPiece<Number> <= count; done += kPiece<Number>) {
    const Number* from = src + done;
    store_piece(dst + done, [=](size_t k) PTO_INLINE_LAMBDA { return operation(from[k]); });
  }
  for (; done < count; ++done) dst[done] = operation(src[done]);
}

/// dst = operation(first), for each element.
template <typename Element, typename Operation>
PTO_SHARED AICORE void apply(const Work& work, Operation operation) {
  if constexpr (kManyLanes) {
    apply_on_lanes<Element>(work, operation);
  } else {
    const auto cols = static_cast<size_t>(work.cols);
    for (int row = 0; row < work.rows; ++row) {
      Element* const dst = static_cast<Element*>(work.dst) + row * work.pitch;
      const Element* const src = static_cast<const Element*>(work.first.data) + row * work.first.pitch;
      if constexpr (std::is_same_v<Element, Computed<Element>>) {
        apply_run(operation, dst, cols, src);
      } else {
        for (size_t done = 0; done < cols; done += kWidePiece) {
          const size_t here = cols - done < kWidePiece ? cols - done : kWidePiece;
          float wide[kWidePiece];
          widen(wide, src + done, here);
          apply_run<Operation, float>(operation, wide, here, wide);
          narrow_to_nearest(dst + done, wide, here);
        }
      }
    }
  }
}

template <typename Operation, typename Dst, typename First, typename Second>
PTO_OUTLINED AICORE void combine_the_long_way(const char* name, Where where, Dst dst, First first, Second second,
                                              Operation operation) {
  combine<typename Dst::DType>(begin_binary(name, where, dst, first, second), operation);
}
template <typename Operation, typename Dst, typename Src>
PTO_OUTLINED AICORE void combine_with_number_the_long_way(const char* name, Where where, Dst dst, Src src,
                                                          typename Src::DType number, Operation operation) {
  combine<typename Src::DType>(begin_with_scalar(name, where, dst, src, &number), operation);
}
template <typename Operation, typename Dst, typename Src>
PTO_OUTLINED AICORE void apply_the_long_way(const char* name, Where where, Dst dst, Src src, Operation operation) {
  apply<typename Dst::DType>(begin_unary(name, where, dst, src), operation);
}

/// dst = operation(first, second): whole pieces if types allow that.
template <typename Operation, typename Dst, typename First, typename Second>
PTO_INLINE AICORE void combine_tiles(const char* name, Where where, Dst& dst, First& first, Second& second,
                                     Operation operation) {
  if constexpr (may_be_whole<Dst, First, Second>) {
    if (!combine_whole(operation, dst, first, second)) combine_the_long_way(name, where, dst, first, second, operation);
  } else {
    combine<typename Dst::DType>(begin_binary(name, where, dst, first, second), operation);
  }
}
template <typename Operation, typename Dst, typename Src>
PTO_INLINE AICORE void combine_with_number(const char* name, Where where, Dst& dst, Src& src,
                                           typename Src::DType number, Operation operation) {
  if constexpr (may_be_whole<Dst, Src>) {
    if (!combine_whole_with_number(operation, dst, src, number)) {
      combine_with_number_the_long_way(name, where, dst, src, number, operation);
    }
  } else {
    combine<typename Src::DType>(begin_with_scalar(name, where, dst, src, &number), operation);
  }
}
template <typename Operation, typename Dst, typename Src>
PTO_INLINE AICORE void apply_to_tile(const char* name, Where where, Dst& dst, Src& src, Operation operation) {
  if constexpr (may_be_whole<Dst, Src>) {
    if (!apply_whole(operation, dst, src)) apply_the_long_way(name, where, dst, src, operation);
  } else {
    apply<typename Dst::DType>(begin_unary(name, where, dst, src), operation);
  }
}

template <typename... Tiles>
inline constexpr bool are_plain_vecs = (is_plain_vec<Tiles> && ...);
template <typename First, typename... Others>
inline constexpr bool have_one_type = (std::is_same_v<typename First::DType, typename Others::DType> && ...);

template <typename First, typename... Others>
constexpr AICORE void require_elementwise() {
  static_assert(are_plain_vecs<First, Others...>, "elementwise instructions take row-major Vec tiles");
  static_assert(have_one_type<First, Others...>, "element types differ");
}

}  // namespace baton::kernel
