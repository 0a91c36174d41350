// out = a + b. Written as kernels are: with definitions of its own before and after the headers.
#ifndef __gm__
#define __gm__
#endif
#define __aicore__ [aicore]
#include <cstdint>

#include <pto/common/constants.hpp>
#include <pto/common/pto_tile.hpp>
#include <pto/pto-inst.hpp>

#include "pipe_sync.h"
#include "tensor.h"

using namespace pto;

constexpr int T = 1, N = 128, D = 128;
constexpr int kRows = N, kCols = D;

template <int R, int C>
static __aicore__ inline void add_tiles(__gm__ Tensor* a, __gm__ Tensor* b, __gm__ Tensor* out) {
  using Global = GlobalTensor<float, Shape<1, 1, 1, R, C>, Stride<1, 1, 1, C, 1>>;
  using TileData = Tile<TileType::Vec, float, R, C, BLayout::RowMajor, -1, -1>;

  TileData src0Tile(R, C);
  TileData src1Tile(R, C);
  TileData dstTile(R, C);
  TASSIGN(src0Tile, 0x0);
  TASSIGN(src1Tile, 0x10000);
  TASSIGN(dstTile, 0x20000);

  Global src0Global(reinterpret_cast<__gm__ float*>(a->buffer.addr) + a->start_offset);
  Global src1Global(reinterpret_cast<__gm__ float*>(b->buffer.addr) + b->start_offset);
  Global dstGlobal(reinterpret_cast<__gm__ float*>(out->buffer.addr) + out->start_offset);

  TLOAD(src0Tile, src0Global);
  TLOAD(src1Tile, src1Global);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(dstTile, src0Tile, src1Tile);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(dstGlobal, dstTile);
  pipe_sync();
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  __gm__ Tensor* a = reinterpret_cast<__gm__ Tensor*>(args[0]);
  __gm__ Tensor* b = reinterpret_cast<__gm__ Tensor*>(args[1]);
  __gm__ Tensor* out = reinterpret_cast<__gm__ Tensor*>(args[2]);
  add_tiles<kRows / T, kCols>(a, b, out);
}
