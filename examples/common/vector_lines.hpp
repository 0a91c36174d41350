// Lines of floats of any length on a vector core, in tiles.
#pragma once

#include <baton_kernel.hpp>
#include <collectives/tile_lines.hpp>

namespace lines {

using baton::collectives::in_pieces;
using baton::collectives::line_at;
constexpr int kPiece = baton::collectives::kTileElements;
using Piece = baton::collectives::LineTile<float>;

/// The n-th tile of a kernel.
AICORE inline void assign(Piece& piece, int n) { TASSIGN(piece, n * kPiece * static_cast<int>(sizeof(float))); }

/// to = calculate(from), piece by piece: calculate(values) works on a tile in place.
template <typename Calculate>
AICORE void transform(float* to, const float* from, int64_t count, const Calculate& calculate) {
  in_pieces(count, [&](int64_t first, int64_t n) {
    Piece values(n);
    assign(values, 0);
    auto source = line_at(from + first, n);
    auto target = line_at(to + first, n);
    TLOAD(values, source);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    calculate(values, n);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(target, values);
  });
}

/// to = the sum of source(0), source(1) ... source(sources - 1), in this order.
template <typename Source>
AICORE void add_up(float* to, int sources, int64_t count, const Source& source) {
  in_pieces(count, [&](int64_t first, int64_t n) {
    Piece sum(n);
    Piece next(n);
    assign(sum, 0);
    assign(next, 1);
    auto from = line_at(source(0) + first, n);
    auto target = line_at(to + first, n);
    TLOAD(sum, from);
    for (int i = 1; i < sources; ++i) {
      auto other = line_at(source(i) + first, n);
      TLOAD(next, other);
      set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
      TADD(sum, sum, next);
      set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
      wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);  // the next one takes its place
    }
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
    TSTORE(target, sum);
  });
}

/// gelu(x) = x / (1 + exp(-2 z)) with z = sqrt(2 / pi) (x + 0.044715 x^3): the form with tanh. Uses tile 1.
AICORE inline void gelu(Piece& x, int64_t count) {
  constexpr float kScale = -2 * 0.7978845608F;
  Piece z(count);
  assign(z, 1);
  TMUL(z, x, x);
  TMULS(z, z, 0.044715F * kScale);
  TADDS(z, z, kScale);
  TMUL(z, z, x);
  TEXP(z, z);
  TADDS(z, z, 1.0F);
  TDIV(x, x, z);
}

}  // namespace lines
