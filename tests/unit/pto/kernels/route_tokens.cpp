// Counts, per expert, what the rows of a table say; scales bfloat16 rows; hands a row to a peer's window.
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

#include "intrinsic.h"
#include "platform_comm/comm_context.h"
#include "tensor.h"

using namespace pto;

constexpr int R = 8, TOPK = 8, W = 64;

AICORE inline void store_i32(volatile __gm__ int32_t* address, int32_t value) { *address = value; }
AICORE inline int32_t load_i32(volatile __gm__ int32_t* address) { return *address; }
AICORE inline void ddr_fence() { dsb((mem_dsb_t)DSB_DDR); }

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  auto* table = reinterpret_cast<__gm__ int32_t*>(reinterpret_cast<__gm__ Tensor*>(args[0])->buffer.addr);
  auto* counts = reinterpret_cast<__gm__ int32_t*>(reinterpret_cast<__gm__ Tensor*>(args[1])->buffer.addr);
  auto* rows = reinterpret_cast<__gm__ bfloat16_t*>(reinterpret_cast<__gm__ Tensor*>(args[2])->buffer.addr);
  auto* inbox = reinterpret_cast<__gm__ bfloat16_t*>(reinterpret_cast<__gm__ Tensor*>(args[3])->buffer.addr);
  const float factor = from_u64<float>(static_cast<uint64_t>(args[4]));

  // Row sums into a column, which is stored as a line.
  using TableG = GlobalTensor<int32_t, Shape<1, 1, 1, R, TOPK>, Stride<R * TOPK, R * TOPK, R * TOPK, TOPK, 1>>;
  using CountsG = GlobalTensor<int32_t, Shape<1, 1, 1, R, 1>, Stride<R, R, R, 1, R>, Layout::DN>;
  Tile<TileType::Vec, int32_t, R, TOPK> tableTile, tmpTile;
  Tile<TileType::Vec, int32_t, R, 1, BLayout::ColMajor> countTile;
  TASSIGN(tableTile, 0x0);
  TASSIGN(tmpTile, 0x1000);
  TASSIGN(countTile, 0x2000);
  TableG tableG(table);
  CountsG countsG(counts);
  TLOAD(tableTile, tableG);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
  TROWSUM(countTile, tableTile, tmpTile);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
  TSTORE(countsG, countTile);
  pipe_barrier(PIPE_ALL);
  dcci(counts, cache_line_t::SINGLE_CACHE_LINE, CACHELINE_OUT);
  ddr_fence();
  store_i32(counts + R, load_i32(counts) + 1);

  // bfloat16 has no arithmetic: through float and back.
  using RowG = GlobalTensor<bfloat16_t, Shape<1, 1, 1, 1, W>, Stride<W, W, W, W, 1>>;
  Tile<TileType::Vec, bfloat16_t, 1, W> rowTile;
  Tile<TileType::Vec, float, 1, W> wideTile;
  TASSIGN(rowTile, 0x3000);
  TASSIGN(wideTile, 0x4000);
  for (int i = 0; i < R; ++i) {
    RowG rowG(rows + i * W);
    RowG inboxG(inbox + i * W);
    TLOAD(rowTile, rowG);
    pipe_barrier(PIPE_ALL);
    TCVT(wideTile, rowTile, RoundMode::CAST_NONE);
    TMULS(wideTile, wideTile, factor);
    TCVT(rowTile, wideTile, RoundMode::CAST_RINT);
    pipe_barrier(PIPE_ALL);
    TSTORE(rowG, rowTile);
    pipe_barrier(PIPE_ALL);
    comm::TPUT(inboxG, rowG, rowTile);
    pipe_barrier(PIPE_ALL);
  }
}
