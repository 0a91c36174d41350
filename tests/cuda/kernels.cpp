// Kernels that run on simulated cores and on a GPU: of the tests, and of bench/cuda.
#include <pto_cq_kernel_api.h>
#include <baton_kernel.hpp>

#include "../support/add_kernel.hpp"

/// The same for long vectors, of which each block takes its share of tiles: while one is added, the next ones are on
/// their way.
BATON_KERNEL(add_stream, In<float> a, In<float> b, Out<float> out) {
  constexpr int kStages = 4;
  const auto place = [&](Line& tile, int64_t stage, int64_t which) {
    TASSIGN(tile, (2 * stage + which) * kTile * int64_t{sizeof(float)});
  };
  const int64_t size = out.size();
  const int64_t step = get_block_num(args);
  const int64_t first = get_block_idx(args);
  const int64_t all = (size + kTile - 1) / kTile;
  const int64_t tiles = first < all ? (all - first + step - 1) / step : 0;
  const auto begin_of = [&](int64_t i) { return (first + i * step) * kTile; };
  const auto count_of = [&](int64_t i) { return size - begin_of(i) < kTile ? size - begin_of(i) : kTile; };
  const auto load = [&](int64_t i) {
    const int64_t count = count_of(i);
    Line x(static_cast<unsigned>(count));
    Line y(static_cast<unsigned>(count));
    place(x, i % kStages, 0);
    place(y, i % kStages, 1);
    auto a_line = a.line(begin_of(i), count);
    auto b_line = b.line(begin_of(i), count);
    TLOAD(x, a_line);
    TLOAD(y, b_line);
    set_flag(PIPE_MTE2, PIPE_V, static_cast<int>(i % kStages));
  };
  for (int64_t i = 0; i < tiles && i < kStages; ++i) load(i);
  for (int64_t i = 0; i < tiles; ++i) {
    const int stage = static_cast<int>(i % kStages);
    const int64_t count = count_of(i);
    Line x(static_cast<unsigned>(count));
    Line y(static_cast<unsigned>(count));
    place(x, stage, 0);
    place(y, stage, 1);
    auto out_line = out.line(begin_of(i), count);
    wait_flag(PIPE_MTE2, PIPE_V, stage);
    TADD(x, x, y);
    set_flag(PIPE_V, PIPE_MTE3, stage);
    wait_flag(PIPE_V, PIPE_MTE3, stage);
    TSTORE(out_line, x);
    set_flag(PIPE_MTE3, PIPE_MTE2, stage);
    if (i == 0) continue;
    // The stage before this one is filled again as soon as it is stored.
    wait_flag(PIPE_MTE3, PIPE_MTE2, static_cast<int>((i - 1) % kStages));
    if (i - 1 + kStages < tiles) load(i - 1 + kStages);
  }
  if (tiles > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, static_cast<int>((tiles - 1) % kStages));
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

/// Adds to a tile that may still be loading: a flag is missing.
BATON_KERNEL(forgetful, In<float> a) {
  Line x(64u);
  TASSIGN(x, 0);
  auto line = a.line(0, 64);
  TLOAD(x, line);
  TADDS(x, x, 1.0F);
}

/// What a task costs beside its kernel.
extern "C" __aicore__ void nothing(int64_t* /*args*/) {}
BATON_KERNEL_ENTRY(nothing);

/// Reads, changes and writes memory without tiles: its code runs once.
BATON_KERNEL(count_up, InOut<int32_t> counter, int32_t by) { *counter.data() += by; }

/// More tensors than a command to a core holds.
BATON_KERNEL(sum_of_nine, In<uint32_t> a, In<uint32_t> b, In<uint32_t> c, In<uint32_t> d, In<uint32_t> e,
             In<uint32_t> f, In<uint32_t> g, In<uint32_t> h, InOut<uint32_t> sum, int32_t more) {
  *sum.data() += *a.data() + *b.data() + *c.data() + *d.data() + *e.data() + *f.data() + *g.data() + *h.data() +
                 static_cast<uint32_t>(more);
}

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

/// Reads an element that another task stored as part of a tile, without a tile.
BATON_KERNEL(read_back, In<float> x, InOut<float> y, int32_t index) { y.data()[index] = x.data()[x.size() - 1]; }

/// Takes a while: each step waits for memory.
BATON_KERNEL(count_slowly, InOut<int32_t> counter, int32_t steps) {
  volatile int32_t* const cell = counter.data();
  for (int32_t i = 0; i < steps; ++i) *cell = *cell + 1;
}

/// Returns at once. The task is complete when a counter has reached a value, as its completion queue is told so often.
extern "C" __aicore__ void await_in_queue(int64_t* args) {
  const auto* counter = reinterpret_cast<const Tensor*>(args[0]);
  volatile PTO2CompletionQueue* const conditions = pto2_cq_get(static_cast<uint64_t>(args[3]));
  for (int64_t i = 0; i < args[2]; ++i) {
    pto2_save_expected_completion(PTO2_ENGINE_SDMA, conditions, counter->buffer.addr, static_cast<uint32_t>(args[1]));
  }
  pto2_cq_flush(conditions);
}
BATON_KERNEL_ENTRY(await_in_queue);

BATON_KERNEL(copy_word, In<int32_t> x, Out<int32_t> y) { *y.data() = *x.data(); }

/// Writes where no memory is, past all checks.
BATON_KERNEL(wild_write, InOut<int32_t> unused, uint64_t address) {
  *reinterpret_cast<volatile int32_t*>(address) = static_cast<int32_t>(unused.size());
}
