// Every rank adds its line to the line of its right neighbour, in that one's window, and waits for its left one.
#include <baton_kernel.hpp>

using namespace pto;

BATON_KERNEL(kernel_entry, In<float, 1> mine, InOut<float> window, CommContext* context, int32_t* signal,
             int32_t round) {
  constexpr int kCols = 512;
  const int ranks = static_cast<int>(context->rankNum);
  const int right = (static_cast<int>(context->rankId) + 1) % ranks;
  Tile<TileType::Vec, float, 1, kCols, BLayout::RowMajor, 1, DYNAMIC> tile;
  TASSIGN(tile, 0);
  for (int64_t i = 0; i < mine.size(); i += kCols) {
    const int64_t count = mine.size() - i < kCols ? mine.size() - i : kCols;
    tile.SetValidCol(static_cast<unsigned>(count));
    auto from = mine.line(i, count);
    auto to = window.line(i, count);
    TASSIGN(to, comm::CommRemotePtr(context, to.data(), right));
    TLOAD(tile, from);
    pipe_barrier(PIPE_ALL);
    TSTORE<decltype(tile), decltype(to), AtomicType::AtomicAdd>(to, tile);
    pipe_barrier(PIPE_ALL);
  }
  comm::Signal there(comm::CommRemotePtr(context, signal, right));
  comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  comm::Signal here(signal);
  comm::TWAIT(here, round + 1, comm::WaitCmp::GE);
}
