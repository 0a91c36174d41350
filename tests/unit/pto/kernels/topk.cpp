// The 64 largest of 500 scores and where they are, as generators write it: words of its own, sizes at run time.
#include <pto/pto-inst.hpp>

#include "tensor.h"

#undef ENTIRE_DATA_CACHE
#undef dcci
#undef dsb
namespace cache_line_t {
constexpr int ENTIRE_DATA_CACHE = 1;
}
typedef int mem_dsb_t;
[[maybe_unused]] static inline void dcci(...) {}
static inline void dsb(mem_dsb_t) {}

using namespace pto;

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
  auto* scores = reinterpret_cast<__gm__ float*>(reinterpret_cast<__gm__ Tensor*>(args[0])->buffer.addr);
  auto* values = reinterpret_cast<__gm__ float*>(reinterpret_cast<__gm__ Tensor*>(args[1])->buffer.addr);
  auto* places = reinterpret_cast<__gm__ int32_t*>(reinterpret_cast<__gm__ Tensor*>(args[2])->buffer.addr);
  const int64_t valid = args[3];
  set_mask_norm();
  set_vector_mask(static_cast<uint64_t>(-1), static_cast<uint64_t>(-1));

  using Row = Tile<TileType::Vec, float, 1, 512, BLayout::RowMajor, -1, -1>;
  using Padded = Tile<TileType::Vec, float, 1, 512, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Min>;
  using Counts = Tile<TileType::Vec, int32_t, 1, 512, BLayout::RowMajor, -1, -1>;
  using Indices = Tile<TileType::Vec, uint32_t, 1, 512, BLayout::RowMajor, -1, -1>;
  using Pairs = Tile<TileType::Vec, float, 1, 1024, BLayout::RowMajor, -1, -1>;
  Row row(1, valid);
  Padded padded(1, 512);
  Counts counts(1, 512);
  Indices indices(1, 512);
  Pairs sorted(1, 1024), merged(1, 1024), best(1, 128);
  TASSIGN(row, 0x0);
  TASSIGN(padded, 0x0);
  TASSIGN(counts, 0x800);
  TASSIGN(indices, 0x800);
  TASSIGN(sorted, 0x1000);
  TASSIGN(merged, 0x2000);

  GlobalTensor<float, Shape<1, 1, 1, 1, -1>, Stride<-1, -1, -1, -1, 1>> from(scores, {valid}, {512, 512, 512, 512});
  TLOAD(row, from);
  TCI<Counts, int32_t, 0>(counts, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  set_flag(PIPE_S, PIPE_V, EVENT_ID1);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
  TFILLPAD_INPLACE(padded, row);
  TSORT32(sorted, padded, indices);
  TMRGSORT(merged, sorted, 64);
  TMRGSORT(sorted, merged, 256);
  TASSIGN(best, 0x1000);
  Tile<TileType::Vec, float, 1, 64> top;
  Tile<TileType::Vec, int32_t, 1, 64> where;
  TASSIGN(top, 0x3000);
  TASSIGN(where, 0x3100);
  TGATHER<decltype(top), Pairs, MaskPattern::P0101>(top, best);
  TGATHER<decltype(where), Pairs, MaskPattern::P1010>(where, best);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> to_values(values);
  GlobalTensor<int32_t, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> to_places(places);
  TSTORE(to_values, top);
  TSTORE(to_places, where);
  dcci((void*)0, cache_line_t::ENTIRE_DATA_CACHE);
  dsb((mem_dsb_t)0);
  pipe_barrier(PIPE_ALL);
}
