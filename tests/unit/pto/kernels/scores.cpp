// scores += q * k^T, 24 of 32 rows: k is transposed by its twin, the accumulator's lower rows are a slice.
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  auto* q = reinterpret_cast<__gm__ bfloat16_t*>(reinterpret_cast<__gm__ Tensor*>(args[0])->buffer.addr);
  auto* k = reinterpret_cast<__gm__ bfloat16_t*>(reinterpret_cast<__gm__ Tensor*>(args[1])->buffer.addr);
  auto* scores = reinterpret_cast<__gm__ float*>(reinterpret_cast<__gm__ Tensor*>(args[2])->buffer.addr);

  using Rows = GlobalTensor<bfloat16_t, Shape<1, 1, 1, -1, 128>, Stride<-1, -1, -1, 128, 1>>;
  Tile<TileType::Mat, bfloat16_t, 32, 128, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512> queries(24, 128);
  Tile<TileType::Mat, bfloat16_t, 64, 128, BLayout::ColMajor, 64, 128, SLayout::RowMajor, 512> keys;
  Tile<TileType::Mat, bfloat16_t, 128, 64, BLayout::RowMajor, 128, 64, SLayout::ColMajor, 512> keys_t;
  TASSIGN(queries, 0x0);
  TASSIGN(keys, 0x10000);
  TASSIGN(keys_t, 0x10000);
  Rows from_q(q, {24}, {1, 1, 1}), from_k(k, {64}, {1, 1, 1});
  TLOAD(queries, from_q);
  TLOAD(keys, from_k);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);

  using Upper = TileAcc<float, 32, 64, 16, 64>;
  using Whole = TileAcc<float, 32, 64, 24, 64>;
  Whole acc;
  TASSIGN(acc, 0x400);
  for (int half_of_rows = 0; half_of_rows < 2; ++half_of_rows) {
    Upper part;
    TASSIGN(part, 0x400 + 1024 * half_of_rows);
    for (int step = 0; step < 2; ++step) {
      TileLeft<bfloat16_t, 16, 64, -1, -1> left(half_of_rows == 0 ? 16 : 8, 64);
      TileRight<bfloat16_t, 64, 64> right;
      TASSIGN(left, 0x0);
      TASSIGN(right, 0x0);
      TEXTRACT(left, queries, static_cast<uint16_t>(16 * half_of_rows), static_cast<uint16_t>(64 * step));
      TEXTRACT(right, keys_t, static_cast<uint16_t>(64 * step), 0);
      set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
      wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
      if (step == 0) {
        TMATMUL(part, left, right);
      } else {
        TMATMUL_ACC(part, part, left, right);
      }
      set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
      wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    }
  }
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  using Scores = GlobalTensor<float, Shape<1, 1, 1, 24, 64>, Stride<1536, 1536, 1536, 64, 1>>;
  Scores to(scores);
  TSTORE<Whole, Scores, AtomicType::AtomicAdd>(to, acc);
  pipe_barrier(PIPE_ALL);
}
