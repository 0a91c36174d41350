// y = x * w on the cube.
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

constexpr int M = 64, K = 64, L = 64;

template <typename T>
AICORE constexpr inline T CeilAlign(T value, T align) {
  return (value + align - 1) / align * align;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  __gm__ float* x = reinterpret_cast<__gm__ float*>(reinterpret_cast<__gm__ Tensor*>(args[0])->buffer.addr);
  __gm__ float* w = reinterpret_cast<__gm__ float*>(reinterpret_cast<__gm__ Tensor*>(args[1])->buffer.addr);
  __gm__ float* y = reinterpret_cast<__gm__ float*>(reinterpret_cast<__gm__ Tensor*>(args[2])->buffer.addr);

  constexpr int blockAlign = C0_SIZE_BYTE / sizeof(float);
  constexpr int m = CeilAlign<int>(M, 16);
  constexpr int k = CeilAlign<int>(K, blockAlign);
  constexpr int n = CeilAlign<int>(L, blockAlign);

  using GlobalX = GlobalTensor<float, Shape<1, 1, 1, M, K>, Stride<M * K, M * K, M * K, K, 1>>;
  using GlobalW = GlobalTensor<float, Shape<1, 1, 1, K, L>, Stride<K * L, K * L, K * L, L, 1>>;
  using GlobalY = GlobalTensor<float, Shape<1, 1, 1, M, L>, Stride<M * L, M * L, M * L, L, 1>>;
  GlobalX xGlobal(x);
  GlobalW wGlobal(w);
  GlobalY yGlobal(y);

  using MatX = Tile<TileType::Mat, float, m, k, BLayout::ColMajor, M, K, SLayout::RowMajor, 512>;
  using MatW = Tile<TileType::Mat, float, k, n, BLayout::ColMajor, K, L, SLayout::RowMajor, 512>;
  MatX xMat;
  MatW wMat;
  TileLeft<float, m, k, M, K> xTile;
  TileRight<float, k, n, K, L> wTile;
  TileAcc<float, m, n, M, L> yTile;
  TASSIGN(xMat, 0x0);
  TASSIGN(wMat, 0x20000);
  TASSIGN(xTile, 0x0);
  TASSIGN(wTile, 0x0);
  TASSIGN(yTile, 0x0);

  TLOAD(xMat, xGlobal);
  TLOAD(wMat, wGlobal);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TMOV(xTile, xMat);
  TMOV(wTile, wMat);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(yTile, xTile, wTile);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(yGlobal, yTile);
  set_flag(PIPE_FIX, PIPE_S, EVENT_ID7);
  wait_flag(PIPE_FIX, PIPE_S, EVENT_ID7);
}
