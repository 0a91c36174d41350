// TADD again and again on tiles of ROWS x COLS floats. args: out (one tile); how often.
#include <baton_kernel.hpp>

using namespace pto;

BATON_KERNEL(tadd, Out<float> out, int64_t count) {
  using TileData = Tile<TileType::Vec, float, ROWS, COLS>;
  constexpr int kBytes = TileData::Numel * int{sizeof(float)};
  TileData a, b, sum;
  TASSIGN(a, 0);
  TASSIGN(b, kBytes);
  TASSIGN(sum, 2 * kBytes);
  TEXPANDS(a, 1.5f);
  TEXPANDS(b, 2.25f);
  for (int64_t i = 0; i < count; ++i) TADD(sum, a, b);
  pipe_barrier(PIPE_ALL);
  GlobalTensor<float, Shape<1, 1, 1, ROWS, COLS>, Stride<1, 1, 1, COLS, 1>> target(out.data());
  TSTORE(target, sum);
  pipe_barrier(PIPE_ALL);
}
