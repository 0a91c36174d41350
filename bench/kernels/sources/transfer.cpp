// TLOAD, or TSTORE, again and again between a tensor and a tile of ROWS x COLS floats. args: in, out; how often.
#include <baton_kernel.hpp>

using namespace pto;

using TileData = Tile<TileType::Vec, float, ROWS, COLS>;
using TensorData = GlobalTensor<float, Shape<1, 1, 1, ROWS, COLS>, Stride<1, 1, 1, COLS, 1>>;

BATON_KERNEL(tload, InOut<float> in, Out<float> out, int64_t count) {
  TileData tile;
  TASSIGN(tile, 0);
  TensorData source(in.data()), target(out.data());
  for (int64_t i = 0; i < count; ++i) TLOAD(tile, source);
  pipe_barrier(PIPE_ALL);
  TSTORE(target, tile);
  pipe_barrier(PIPE_ALL);
}

BATON_KERNEL(tstore, InOut<float> in, Out<float> out, int64_t count) {
  TileData tile;
  TASSIGN(tile, 0);
  TensorData source(in.data()), target(out.data());
  TLOAD(tile, source);
  pipe_barrier(PIPE_ALL);
  for (int64_t i = 0; i < count; ++i) TSTORE(target, tile);
  pipe_barrier(PIPE_ALL);
}
