// TSORT32, TMRGSORT and TGATHER again and again on a row of ROWS * COLS floats. args: out (the pairs, or as many
// floats); how often.
#include <baton_kernel.hpp>

#include "sorting.hpp"

using namespace pto;

namespace {

constexpr int kBytes = kCount * 4;
using Row = Tile<TileType::Vec, float, 1, kCount>;
using Pairs = Tile<TileType::Vec, float, 1, 2 * kCount>;
using Places = Tile<TileType::Vec, int32_t, 1, kCount>;
using Indices = Tile<TileType::Vec, uint32_t, 1, kCount>;

template <typename TileData>
void put(float* out, TileData& tile) {
  pipe_barrier(PIPE_ALL);
  GlobalTensor<float, Shape<1, 1, 1, 1, TileData::Cols>, Stride<1, 1, 1, 1, 1>> target(out);
  TSTORE(target, tile);
  pipe_barrier(PIPE_ALL);
}

}  // namespace

BATON_KERNEL(tsort32, Out<float> out, int64_t count) {
  Row row;
  Indices indices;
  Pairs pairs;
  TASSIGN(row, 0);
  TASSIGN(indices, kBytes);
  TASSIGN(pairs, 2 * kBytes);
  for (int i = 0; i < kCount; ++i) {
    row.SetValue(i, number(i));
    indices.SetValue(i, static_cast<uint32_t>(i));
  }
  pipe_barrier(PIPE_ALL);
  for (int64_t n = 0; n < count; ++n) TSORT32(pairs, row, indices);
  put(out.data(), pairs);
}

BATON_KERNEL(tmrgsort, Out<float> out, int64_t count) {
  Row row;
  Indices indices;
  Pairs pairs, merged;
  TASSIGN(row, 0);
  TASSIGN(indices, kBytes);
  TASSIGN(pairs, 2 * kBytes);
  TASSIGN(merged, 4 * kBytes);
  for (int i = 0; i < kCount; ++i) {
    row.SetValue(i, number(i));
    indices.SetValue(i, static_cast<uint32_t>(i));
  }
  pipe_barrier(PIPE_ALL);
  TSORT32(pairs, row, indices);
  for (int64_t n = 0; n < count; ++n) TMRGSORT(merged, pairs, 2 * kSorted);
  put(out.data(), merged);
}

BATON_KERNEL(tgather, Out<float> out, int64_t count) {
  Row row, gathered;
  Places places, scratch;
  TASSIGN(row, 0);
  TASSIGN(gathered, kBytes);
  TASSIGN(places, 2 * kBytes);
  TASSIGN(scratch, 3 * kBytes);
  for (int i = 0; i < kCount; ++i) {
    row.SetValue(i, number(i));
    places.SetValue(i, place(i));
  }
  pipe_barrier(PIPE_ALL);
  for (int64_t n = 0; n < count; ++n) TGATHER(gathered, row, places, scratch);
  put(out.data(), gathered);
}
