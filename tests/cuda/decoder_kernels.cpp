// A layer of a decoder that makes one token: norm, projections, attention over what came before, an MLP. Weights are
// read once, so that memory is the limit. Of tests, and of bench/cuda.
#include <baton_kernel.hpp>

#include <math.h>

#include "decoder_sizes.hpp"

namespace {

using decoder::kChunk;
using decoder::kContext;
using decoder::kHead;

constexpr int kRows = 8;  // of a tile of weights
constexpr int kStages = 3;
using Block = pto::Tile<pto::TileType::Vec, float, kRows, kChunk>;
using Line = pto::Tile<pto::TileType::Vec, float, 1, kChunk>;
using Column = pto::Tile<pto::TileType::Vec, float, kRows, 1, pto::BLayout::ColMajor>;
/// The same elements for instructions that take lines.
using Flat = pto::Tile<pto::TileType::Vec, float, 1, kRows>;
constexpr int64_t kLineBytes = kChunk * int64_t{sizeof(float)};
constexpr int64_t kBlockBytes = kRows * kLineBytes;
constexpr int64_t kStageBytes = kBlockBytes + kLineBytes;
constexpr int64_t kWideAt = kStages * kStageBytes;
constexpr int64_t kScratchAt = kWideAt + kBlockBytes;
constexpr int64_t kSumAt = kScratchAt + kBlockBytes;
constexpr int64_t kPartAt = kSumAt + 512;
constexpr int64_t kBeforeAt = kPartAt + 512;

/// y = w x (+ before): each block of the task takes its share of rows, eight at a time. The next pieces of them are on
/// their way while one is multiplied. `before` may be null.
template <typename Weights, typename Vector, typename Out>
AICORE void multiply(int64_t* args, const Weights& w, const Vector& x, const Vector* before, const Out& y) {
  const int64_t step = get_block_num(args);
  const int64_t first = get_block_idx(args);
  const int64_t all = w.shape(0) / kRows;
  const int64_t groups = first < all ? (all - first + step - 1) / step : 0;
  const int64_t chunks = w.shape(1) / kChunk;
  const int64_t pieces = groups * chunks;
  const auto row_of = [&](int64_t piece) { return (first + piece / chunks * step) * kRows; };
  const auto load = [&](int64_t piece) {
    const int stage = static_cast<int>(piece % kStages);
    const int64_t col = piece % chunks * kChunk;
    Block tile;
    Line line;
    TASSIGN(tile, stage * kStageBytes);
    TASSIGN(line, stage * kStageBytes + kBlockBytes);
    auto weights = w.block(row_of(piece), col, kRows, kChunk);
    auto vector = x.line(col, kChunk);
    TLOAD(tile, weights);
    TLOAD(line, vector);
    set_flag(PIPE_MTE2, PIPE_V, stage);
  };
  Block wide;
  Block scratch;
  Column sum;
  Column part;
  Flat flat_sum;
  Flat flat_part;
  Flat flat_before;
  TASSIGN(wide, kWideAt);
  TASSIGN(scratch, kScratchAt);
  TASSIGN(sum, kSumAt);
  TASSIGN(part, kPartAt);
  TASSIGN(flat_sum, kSumAt);
  TASSIGN(flat_part, kPartAt);
  TASSIGN(flat_before, kBeforeAt);
  for (int64_t piece = 0; piece < pieces && piece < kStages; ++piece) load(piece);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int stage = static_cast<int>(piece % kStages);
    const bool is_first = piece % chunks == 0;
    const bool is_last = piece % chunks == chunks - 1;
    Block tile;
    Line line;
    TASSIGN(tile, stage * kStageBytes);
    TASSIGN(line, stage * kStageBytes + kBlockBytes);
    // The sums of the rows before these are stored.
    if (is_first && piece != 0) wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, stage);
    TCOLEXPANDMUL(wide, tile, line);
    pipe_barrier(PIPE_V);
    if (is_first) {
      TROWSUM(sum, wide, scratch);
    } else {
      TROWSUM(part, wide, scratch);
      pipe_barrier(PIPE_V);
      TADD(flat_sum, flat_sum, flat_part);
    }
    set_flag(PIPE_V, PIPE_MTE2, stage);
    wait_flag(PIPE_V, PIPE_MTE2, stage);
    if (piece + kStages < pieces) load(piece + kStages);
    if (!is_last) continue;
    if (before != nullptr) {
      auto line_before = before->line(row_of(piece), kRows);
      TLOAD(flat_before, line_before);
      set_flag(PIPE_MTE2, PIPE_V, kStages);
      wait_flag(PIPE_MTE2, PIPE_V, kStages);
      TADD(flat_sum, flat_sum, flat_before);
      set_flag(PIPE_V, PIPE_MTE2, kStages);
      wait_flag(PIPE_V, PIPE_MTE2, kStages);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    auto to = y.line(row_of(piece), kRows);
    TSTORE(to, flat_sum);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }
  if (pieces > 0) wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}

}  // namespace

/// y = w x.
BATON_KERNEL(project, In<float, 2> w, In<float> x, Out<float> y) {
  multiply(args, w, x, static_cast<decltype(&x)>(nullptr), y);
}
/// y = w x + before.
BATON_KERNEL(project_and_add, In<float, 2> w, In<float> x, In<float> before, Out<float> y) {
  multiply(args, w, x, &before, y);
}

/// y = x / sqrt(mean of squares) * weight. In rows of kChunk, eight at most.
BATON_KERNEL(norm, In<float, 2> x, In<float, 2> weight, Out<float, 2> y) {
  constexpr float kEpsilon = 1e-5F;
  using Some = pto::Tile<pto::TileType::Vec, float, kRows, kChunk, pto::BLayout::RowMajor, pto::DYNAMIC, kChunk>;
  using Sums = pto::Tile<pto::TileType::Vec, float, kRows, 1, pto::BLayout::ColMajor, pto::DYNAMIC, 1>;
  const auto rows = static_cast<unsigned>(x.shape(0));
  Some values(rows);
  Some weights(rows);
  Some squares(rows);
  Some scratch(rows);
  Sums sums(rows);
  Flat flat;
  TASSIGN(values, 0);
  TASSIGN(weights, kBlockBytes);
  TASSIGN(squares, 2 * kBlockBytes);
  TASSIGN(scratch, 3 * kBlockBytes);
  TASSIGN(sums, 4 * kBlockBytes);
  TASSIGN(flat, 4 * kBlockBytes);
  auto from = x.block();
  auto by = weight.block();
  auto to = y.block();
  TLOAD(values, from);
  TLOAD(weights, by);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TMUL(squares, values, values);
  pipe_barrier(PIPE_V);
  TROWSUM(sums, squares, scratch);
  set_flag(PIPE_V, PIPE_S, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
  float sum = 0;
  for (unsigned row = 0; row < rows; ++row) sum += flat.GetValue(row);
  TMULS(values, values, 1.0F / sqrtf(sum / static_cast<float>(x.size()) + kEpsilon));
  pipe_barrier(PIPE_V);
  TMUL(values, values, weights);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, values);
}

/// A block for each head: y = softmax(keys q) values, over kContext tokens. q is the first third of what was projected.
BATON_KERNEL(attend, In<float> projected, In<float, 2> keys, In<float, 2> values, Out<float> y) {
  constexpr int kTokens = 64;  // of a tile
  constexpr int kTiles = kContext / kTokens;
  using Piece = pto::Tile<pto::TileType::Vec, float, kTokens, kHead>;
  using Scores = pto::Tile<pto::TileType::Vec, float, kTokens, 1, pto::BLayout::ColMajor>;
  using Head = pto::Tile<pto::TileType::Vec, float, 1, kHead>;
  using One = pto::Tile<pto::TileType::Vec, float, kRows, 1, pto::BLayout::ColMajor, 1, 1>;
  constexpr int64_t kPieceBytes = int64_t{kTokens} * kHead * int64_t{sizeof(float)};
  constexpr int64_t kScoresAt = 4 * kPieceBytes;
  constexpr int64_t kHeadAt = kScoresAt + kContext * int64_t{sizeof(float)};
  const int64_t head = get_block_idx(args);
  Piece product;
  Piece scratch;
  Line line;
  Line line_scratch;
  Head q;
  Head sum;
  Head part;
  One one;
  TASSIGN(product, 2 * kPieceBytes);
  TASSIGN(scratch, 3 * kPieceBytes);
  TASSIGN(line, kScoresAt);
  TASSIGN(line_scratch, 3 * kPieceBytes);
  TASSIGN(q, kHeadAt);
  TASSIGN(sum, kHeadAt + 512);
  TASSIGN(part, kHeadAt + 1024);
  TASSIGN(one, kHeadAt + 1536);
  const auto place = [](Piece& piece, int i) { TASSIGN(piece, i % 2 * kPieceBytes); };
  const auto place_scores = [](Scores& scores, int i) {
    TASSIGN(scores, kScoresAt + i * kTokens * int64_t{sizeof(float)});
  };
  const auto load = [&](const auto& rows, int i) {
    Piece piece;
    place(piece, i);
    auto from = rows.block(head * kContext + i * kTokens, 0, kTokens, kHead);
    TLOAD(piece, from);
    set_flag(PIPE_MTE2, PIPE_V, i % 2);
  };
  // The next piece but one may come where this one was.
  const auto used = [&](int i) {
    set_flag(PIPE_V, PIPE_MTE2, i % 2);
    wait_flag(PIPE_V, PIPE_MTE2, i % 2);
  };
  auto from_q = projected.line(head * kHead, kHead);
  TLOAD(q, from_q);
  load(keys, 0);
  load(keys, 1);
  for (int i = 0; i < kTiles; ++i) {
    Piece piece;
    Scores scores;
    place(piece, i);
    place_scores(scores, i);
    wait_flag(PIPE_MTE2, PIPE_V, i % 2);
    TCOLEXPANDMUL(product, piece, q);
    pipe_barrier(PIPE_V);
    TROWSUM(scores, product, scratch);
    used(i);
    if (i + 2 < kTiles) {
      load(keys, i + 2);
    } else {
      load(values, i + 2 - kTiles);
    }
  }
  pipe_barrier(PIPE_V);
  TMULS(line, line, 1.0F / sqrtf(static_cast<float>(kHead)));
  pipe_barrier(PIPE_V);
  TROWMAX(one, line, line_scratch);
  pipe_barrier(PIPE_V);
  TROWEXPANDSUB(line, line, one);
  pipe_barrier(PIPE_V);
  TEXP(line, line);
  pipe_barrier(PIPE_V);
  TROWSUM(one, line, line_scratch);
  pipe_barrier(PIPE_V);
  TROWEXPANDDIV(line, line, one);
  for (int i = 0; i < kTiles; ++i) {
    Piece piece;
    Scores scores;
    place(piece, i);
    place_scores(scores, i);
    wait_flag(PIPE_MTE2, PIPE_V, i % 2);
    pipe_barrier(PIPE_V);
    TROWEXPANDMUL(product, piece, scores);
    pipe_barrier(PIPE_V);
    if (i == 0) {
      TCOLSUM(sum, product);
    } else {
      TCOLSUM(part, product);
      pipe_barrier(PIPE_V);
      TADD(sum, sum, part);
    }
    used(i);
    if (i + 2 < kTiles) load(values, i + 2);
  }
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  auto to = y.line(head * kHead, kHead);
  TSTORE(to, sum);
}

/// y = silu(gate) up, which x has one after the other. A block takes its share of lines.
BATON_KERNEL(gate, In<float> x, Out<float> y) {
  Line gates;
  Line ups;
  Line scratch;
  TASSIGN(gates, 0);
  TASSIGN(ups, kLineBytes);
  TASSIGN(scratch, 2 * kLineBytes);
  const int64_t lines = y.size() / kChunk;
  for (int64_t i = get_block_idx(args); i < lines; i += get_block_num(args)) {
    auto from_gate = x.line(i * kChunk, kChunk);
    auto from_up = x.line(y.size() + i * kChunk, kChunk);
    auto to = y.line(i * kChunk, kChunk);
    TLOAD(gates, from_gate);
    TLOAD(ups, from_up);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(scratch, gates, -1.0F);
    pipe_barrier(PIPE_V);
    TEXP(scratch, scratch);
    pipe_barrier(PIPE_V);
    TADDS(scratch, scratch, 1.0F);
    pipe_barrier(PIPE_V);
    TDIV(gates, gates, scratch);
    pipe_barrier(PIPE_V);
    TMUL(gates, gates, ups);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, gates);
    pipe_barrier(PIPE_ALL);
  }
}
