// What a transformer is made of, for ranks that have some of the heads and a part of each network.
#include <pto/comm/pto_comm_inst.hpp>

#include "../common/matrix.hpp"
#include "../common/vector_lines.hpp"

namespace {

using lines::Piece;
using Number = pto::Tile<pto::TileType::Vec, float, 1, 8, pto::BLayout::RowMajor, 1, 1>;  // one, in the first place

constexpr int kPieceBytes = lines::kPiece * static_cast<int>(sizeof(float));
constexpr int kSide = 32;
using Square = pto::Tile<pto::TileType::Vec, float, kSide, kSide, pto::BLayout::RowMajor, pto::DYNAMIC, pto::DYNAMIC>;

/// Rows are whole tiles.
AICORE void check_length(int64_t count, const char* what) {
  if (count <= lines::kPiece) return;
  baton::kernel::fail(baton::kernel::place_of(what, baton::kernel::Where::current()), BATON_KERNEL_OUT_OF_RANGE,
                      "a row has ", count, " elements; at most ", lines::kPiece, " are possible");
}

/// Adds 1 to a signal of all ranks.
AICORE void tell_all(int32_t* signal, const CommContext* signals) {
  for (int peer = 0; peer < static_cast<int>(signals->rankNum); ++peer) {
    const pto::comm::Signal there(pto::comm::CommRemotePtr(signals, signal, peer));
    pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
  }
}

}  // namespace

/// y = x w.
BATON_CUBE_KERNEL(multiply, In<float, 2> x, In<float, 2> w, Out<float, 2> y) { matrix::multiply(x, w, y); }

/// y(c, r) = x(r, c).
BATON_KERNEL(transpose, In<float, 2> x, Out<float, 2> y) {
  for (int64_t row = 0; row < x.shape(0); row += kSide) {
    for (int64_t col = 0; col < x.shape(1); col += kSide) {
      const int64_t rows = x.shape(0) - row < kSide ? x.shape(0) - row : kSide;
      const int64_t cols = x.shape(1) - col < kSide ? x.shape(1) - col : kSide;
      Square from(rows, cols);
      Square to(cols, rows);
      Square scratch(rows, cols);
      TASSIGN(from, 0);
      TASSIGN(to, kPieceBytes);
      TASSIGN(scratch, 2 * kPieceBytes);
      auto source = x.block(row, col, rows, cols);
      auto target = y.block(col, row, cols, rows);
      TLOAD(from, source);
      set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
      TTRANS(to, from, scratch);
      set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
      wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
      TSTORE(target, to);
      pipe_barrier(PIPE_ALL);
    }
  }
}

/// y = x / sqrt(mean(x^2) + epsilon) * gain, row by row.
BATON_KERNEL(normalize, In<float, 2> x, In<float> gain, Out<float, 2> y, float epsilon) {
  const int64_t width = x.shape(1);
  check_length(width, "normalize");
  Piece row(width), square(width), scratch(width), gains(width);
  Number mean;
  lines::assign(row, 0);
  lines::assign(square, 1);
  lines::assign(scratch, 2);
  lines::assign(gains, 3);
  TASSIGN(mean, 4 * kPieceBytes);
  auto all_gains = gain.line();
  TLOAD(gains, all_gains);
  for (int64_t i = 0; i < x.shape(0); ++i) {
    auto from = x.block(i, 0, 1, width);
    auto to = y.block(i, 0, 1, width);
    TLOAD(row, from);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMUL(square, row, row);
    TROWSUM(mean, square, scratch);
    TMULS(mean, mean, 1.0F / static_cast<float>(width));
    TADDS(mean, mean, epsilon);
    TRSQRT(mean, mean);
    TROWEXPANDMUL(row, row, mean);
    TMUL(row, row, gains);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, row);
    pipe_barrier(PIPE_ALL);
  }
}

/// Each row i of x becomes softmax(scale * its first i + 1 elements), and zeros: a token sees those before it.
BATON_KERNEL(softmax, InOut<float, 2> x, float scale) {
  check_length(x.shape(1), "softmax");
  Number extreme;
  TASSIGN(extreme, 3 * kPieceBytes);
  for (int64_t i = 0; i < x.shape(0); ++i) {
    const int64_t count = i + 1;
    Piece row(count), scratch(count), zeros(x.shape(1));
    lines::assign(row, 0);
    lines::assign(scratch, 1);
    lines::assign(zeros, 2);
    auto seen = x.block(i, 0, 1, count);
    auto all = x.block(i, 0, 1, x.shape(1));
    TLOAD(row, seen);
    TEXPANDS(zeros, 0.0F);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(row, row, scale);
    TROWMAX(extreme, row, scratch);
    TROWEXPANDSUB(row, row, extreme);
    TEXP(row, row);
    TROWSUM(extreme, row, scratch);
    TROWEXPANDDIV(row, row, extreme);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(all, zeros);
    TSTORE(seen, row);  // after the zeros: the same pipe
    pipe_barrier(PIPE_ALL);
  }
}

BATON_KERNEL(activate, InOut<float> x) {
  lines::transform(x.data(), x.data(), x.size(), [](Piece& values, int64_t count) { lines::gelu(values, count); });
}

/// Tells all ranks that this one's partial result is in its window.
BATON_KERNEL(show, In<float> partial, int32_t* shown, const CommContext* signals) {
  (void)partial;
  tell_all(shown, signals);
}

/// y = x + the sum of all ranks' partial results, by rank, so that all get the same bits. All are shown; then tells all
/// that this rank has taken theirs.
BATON_KERNEL(add_partials, In<float> x, Out<float> y, float* partial, const CommContext* window, int32_t* taken,
             const CommContext* signals) {
  lines::add_up(y.data(), static_cast<int>(window->rankNum) + 1, y.size(), [&](int i) -> const float* {
    return i == 0 ? x.data() : pto::comm::CommRemotePtr(window, partial, i - 1);
  });
  tell_all(taken, signals);
}
