// Rows of any width, moved and added up through tiles.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <type_traits>

#include <pto/pto-inst.hpp>

namespace baton::moe {

inline constexpr int kPiece = 4096;  // elements of a tile

template <typename Element>
using Piece = pto::Tile<pto::TileType::Vec, Element, 1, kPiece, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;
template <typename Element>
using Line = pto::GlobalTensor<Element, pto::Shape<1, 1, 1, 1, pto::DYNAMIC>, pto::Stride<1, 1, 1, 1, 1>>;

template <typename Element>
AICORE Line<Element> line_at(Element* data, int64_t count) {
  return Line<Element>(data, typename Line<Element>::Shape(count), typename Line<Element>::Stride());
}

/// Calls body(first, count) for each piece of a line. All before a piece is finished when it begins, and when this
/// returns.
template <typename Body>
AICORE void in_pieces(int64_t count, const Body& body) {
  for (int64_t first = 0; first < count; first += kPiece) {
    body(first, count - first < kPiece ? count - first : kPiece);
    pipe_barrier(PIPE_ALL);
  }
}

/// to = from.
template <typename Element>
AICORE void copy_line(Element* to, const Element* from, int64_t count) {
  in_pieces(count, [&](int64_t first, int64_t n) {
    Piece<Element> piece(n);
    TASSIGN(piece, 0);
    auto source = line_at(from + first, n);
    auto target = line_at(to + first, n);
    TLOAD(piece, source);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(target, piece);
  });
}

/// to = the sum over k of weights[k] * the row at positions[k], calculated in float, in the order of k. Positions below
/// 0 count as zeros.
template <typename Element>
AICORE void weighted_sum(Element* to, const Element* rows, int64_t width, const int32_t* positions,
                         const float* weights, int64_t count) {
  constexpr bool kIsFloat = std::is_same_v<Element, float>;
  constexpr int kTileBytes = kPiece * static_cast<int>(sizeof(float));
  in_pieces(width, [&](int64_t first, int64_t n) {
    Piece<float> sum(n);
    Piece<float> row(n);
    Piece<Element> raw(n);  // floats need no conversion: the same tile as `row`
    TASSIGN(sum, 0);
    TASSIGN(row, kTileBytes);
    TASSIGN(raw, kIsFloat ? kTileBytes : 2 * kTileBytes);
    TEXPANDS(sum, 0.0F);
    for (int64_t k = 0; k < count; ++k) {
      if (positions[k] < 0) continue;
      auto source = line_at(rows + positions[k] * width + first, n);
      TLOAD(raw, source);
      set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
      if constexpr (!kIsFloat) TCVT(row, raw, pto::RoundMode::CAST_NONE);
      TMULS(row, row, weights[k]);
      TADD(sum, sum, row);
      set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
      wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);  // the next row takes its place
    }
    auto target = line_at(to + first, n);
    if constexpr (!kIsFloat) TCVT(raw, sum, pto::RoundMode::CAST_RINT);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    if constexpr (kIsFloat) {
      TSTORE(target, sum);
    } else {
      TSTORE(target, raw);
    }
  });
}

}  // namespace baton::moe
