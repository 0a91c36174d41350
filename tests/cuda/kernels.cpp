// Kernels that run on simulated cores and on a GPU.
#include <baton_kernel.hpp>

namespace {

constexpr int kTile = 4096;
using Line = pto::Tile<pto::TileType::Vec, float, 1, kTile, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;

}  // namespace

BATON_KERNEL(add, In<float> a, In<float> b, Out<float> out) {
  const auto count = static_cast<unsigned>(out.size());
  Line x(count);
  Line y(count);
  TASSIGN(x, 0);
  TASSIGN(y, kTile * sizeof(float));
  auto a_line = a.line();
  auto b_line = b.line();
  auto out_line = out.line();
  TLOAD(x, a_line);
  TLOAD(y, b_line);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(x, x, y);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(out_line, x);
}

/// A tile of 4,096 floats does not hold what it is asked to.
BATON_KERNEL(too_much, In<float> a) {
  Line x(static_cast<unsigned>(kTile));
  TASSIGN(x, 192 * 1024 - 32);
  auto line = a.line(0, kTile);
  TLOAD(x, line);
}

/// Reads behind the end of a buffer.
BATON_KERNEL(stray, In<float> a) {
  Line x(64u);
  TASSIGN(x, 0);
  typename decltype(a)::Line line(a.data() + a.size(), typename decltype(a)::Line::Shape(64),
                                  typename decltype(a)::Line::Stride(64, 64, 64, 64));
  TLOAD(x, line);
}

BATON_KERNEL(nothing, InOut<float> a) {}

/// Reads, changes and writes memory without tiles: its code runs once.
BATON_KERNEL(count_up, InOut<int32_t> counter, int32_t by) { *counter.data() += by; }

/// Each block writes its number.
BATON_KERNEL(number_blocks, Out<int32_t> out) {
  out.data()[get_block_idx(args)] = get_block_idx(args) * 1000 + get_block_num(args);
}

/// Blocks that wait for each other: all must be there.
BATON_KERNEL(meet, InOut<int32_t> arrived) {
  pto::comm::Signal signal(arrived.data());
  pto::comm::TNOTIFY(signal, 1, pto::comm::NotifyOp::AtomicAdd);
  pto::comm::TWAIT(signal, get_block_num(args), pto::comm::WaitCmp::GE);
}

/// Waits for a signal that nobody sends.
BATON_KERNEL(lonely, InOut<int32_t> signal_word) {
  pto::comm::Signal signal(signal_word.data());
  pto::comm::TWAIT(signal, 7, pto::comm::WaitCmp::GE);
}

/// Softmax of rows, in tiles of 64 columns.
BATON_KERNEL(softmax, In<float, 2> x, Out<float, 2> y) {
  constexpr int kRows = 16;
  constexpr int kCols = 64;
  using Block = pto::Tile<pto::TileType::Vec, float, kRows, kCols>;
  using Column = pto::Tile<pto::TileType::Vec, float, kRows, 1, pto::BLayout::ColMajor>;
  Block in;
  Block out;
  Block scratch;
  Column largest;
  Column sum;
  TASSIGN(in, 0x0);
  TASSIGN(out, 0x4000);
  TASSIGN(scratch, 0x8000);
  TASSIGN(largest, 0xc000);
  TASSIGN(sum, 0xc400);
  auto from = x.block(0, 0, kRows, kCols);
  auto to = y.block(0, 0, kRows, kCols);
  TLOAD(in, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TROWMAX(largest, in, scratch);
  pipe_barrier(PIPE_V);
  TROWEXPANDSUB(out, in, largest);
  pipe_barrier(PIPE_V);
  TEXP(out, out);
  pipe_barrier(PIPE_V);
  TROWSUM(sum, out, scratch);
  pipe_barrier(PIPE_V);
  TROWEXPANDDIV(out, out, sum);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, out);
}
