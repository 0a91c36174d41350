// Takes a block out of a peer's matrix, whose rows lie apart, and leaves it in the other half of that matrix.
// args: out (one float: how many elements were wrong); CommContext*, matrix of kRows x kPitch floats, peer.
#include "lines.hpp"

constexpr int kRows = 6;
constexpr int kCols = 5;
constexpr int kPitch = 20;
constexpr int kOtherHalf = 10;

using Block = Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, kRows, kCols>;
using BlockShape = Shape<1, 1, 1, kRows, kCols>;
using BlockStride = Stride<1, 1, 1, kPitch, 1>;
using Matrix = GlobalTensor<float, BlockShape, BlockStride, Layout::ND>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[1]);
  auto* matrix = reinterpret_cast<__gm__ float*>(args[2]);
  float* theirs = CommRemotePtr(ctx, matrix, static_cast<int>(args[3]));
  Block block;
  TASSIGN(block, 0);
  Matrix from(theirs), to(theirs + kOtherHalf);
  TLOAD(block, from);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, block);
  pipe_barrier(PIPE_ALL);
  // What one rank writes it reads.
  Matrix again(theirs + kOtherHalf);
  TLOAD(block, again);
  pipe_barrier(PIPE_ALL);
  float wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      if (block.GetValue(row * 8 + col) != static_cast<float>(1000 * args[3] + row * kPitch + col)) wrong += 1;
    }
  }
  data_of(args[0])[0] = wrong;
}
