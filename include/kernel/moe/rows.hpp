// Rows of any width, moved and added up through tiles.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <type_traits>

#include <collectives/tile_lines.hpp>
#include <pto/pto-inst.hpp>

namespace baton::moe {

inline constexpr int kPiece = collectives::kTileElements;
template <typename Element>
using Piece = collectives::LineTile<Element>;
using collectives::in_pieces;
using collectives::line_at;

/// to = from.
template <typename Element>
AICORE void copy_line(Element* to, const Element* from, int64_t count) {
  collectives::copy_line(reinterpret_cast<uint8_t*>(to), reinterpret_cast<const uint8_t*>(from),
                         count * static_cast<int64_t>(sizeof(Element)));
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
