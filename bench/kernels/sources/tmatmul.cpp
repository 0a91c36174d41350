// TMATMUL again and again on matrices of SIDE x SIDE floats. args: x, w, out; how often.
#include <baton_kernel.hpp>

using namespace pto;

BATON_CUBE_KERNEL(tmatmul, In<float, 2> x, In<float, 2> w, Out<float, 2> out, int64_t count) {
  using Matrix = Tile<TileType::Mat, float, SIDE, SIDE, BLayout::ColMajor, SIDE, SIDE, SLayout::RowMajor, 512>;
  Matrix left_matrix, right_matrix;
  TileLeft<float, SIDE, SIDE> left;
  TileRight<float, SIDE, SIDE> right;
  TileAcc<float, SIDE, SIDE> acc;
  TASSIGN(left_matrix, 0);
  TASSIGN(right_matrix, SIDE * SIDE * 4);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  auto from_x = x.block();
  auto from_w = w.block();
  auto to = out.block();
  TLOAD(left_matrix, from_x);
  TLOAD(right_matrix, from_w);
  pipe_barrier(PIPE_ALL);
  TMOV(left, left_matrix);
  TMOV(right, right_matrix);
  pipe_barrier(PIPE_ALL);
  for (int64_t i = 0; i < count; ++i) TMATMUL(acc, left, right);
  pipe_barrier(PIPE_ALL);
  TSTORE(to, acc);
  pipe_barrier(PIPE_ALL);
}
