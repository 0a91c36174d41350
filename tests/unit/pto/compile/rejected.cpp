// What must not compile, one case at a time (-DCASE=n).
#include <pto/pto-inst.hpp>

using namespace pto;

template <typename E, int R = 4, int C = 32, BLayout B = BLayout::RowMajor>
using Vec = Tile<TileType::Vec, E, R, C, B>;

template <typename E, Layout layout = Layout::ND>
using Global = GlobalTensor<E, Shape<>, Stride<>, layout>;

void kernel() {
#if CASE == 0  // compiles: the cases fail for their own reason
  Vec<float> a;
  TADD(a, a, a);
#elif CASE == 1
  Vec<bfloat16_t> a;
  TADD(a, a, a);
#elif CASE == 2
  Vec<float> a;
  Vec<half> b;
  TADD(a, a, b);
#elif CASE == 3
  Vec<float, 32, 4, BLayout::ColMajor> a;
  TMUL(a, a, a);
#elif CASE == 4
  Vec<float> src;
  Vec<half> dst;
  TROWSUM(dst, src, src);
#elif CASE == 5
  Vec<float> dst, src;
  Vec<int32_t> tmp;
  TROWSUM(dst, src, tmp);
#elif CASE == 6
  Vec<float> tile;
  Global<float, Layout::DN> tensor;
  TLOAD(tile, tensor);
#elif CASE == 7
  Vec<float> tile;
  Global<half> tensor;
  TLOAD(tile, tensor);
#elif CASE == 8
  Vec<uint8_t> a;
  Vec<float> b;
  TCVT(a, b, RoundMode::CAST_RINT);
#elif CASE == 9
  Tile<TileType::Vec, float, 4, 7> a;
  TEXPANDS(a, 1);
#elif CASE == 10
  Tile<TileType::Vec, float, 4, 8, BLayout::RowMajor, 5, 8> a;
  TEXPANDS(a, 1);
#elif CASE == 11
  Tile<TileType::Mat, half, 24, 16, BLayout::ColMajor, 24, 16, SLayout::RowMajor, 512> a;
  TASSIGN(a, 0);
#elif CASE == 12
  Tile<TileType::Mat, half, 16, 24, BLayout::ColMajor, 16, 24, SLayout::RowMajor, 512> a;
  TASSIGN(a, 0);
#elif CASE == 13
  Tile<TileType::Vec, float, 4, 8, BLayout::RowMajor, 4, 8, SLayout::NoneBox, 256> a;
  TASSIGN(a, 0);
#elif CASE == 14
  TileAcc<float, 16, 16> acc;
  TileLeft<half, 16, 16> left;
  TileRight<float, 16, 16> right;
  TMATMUL(acc, left, right);
#elif CASE == 15
  TileAcc<float, 16, 16> acc;
  TileLeft<float, 16, 16> left;
  Tile<TileType::Right, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> right;
  TMATMUL(acc, left, right);
#elif CASE == 16
  Global<float> dst;
  Global<half> src;
  Vec<float> tile;
  comm::TPUT(dst, src, tile);
#elif CASE == 17
  Global<float> dst;
  Global<float, Layout::DN> src;
  Vec<float> tile;
  comm::TPUT(dst, src, tile);
#elif CASE == 18
  Vec<int64_t> tile;
  Global<int64_t> tensor;
  TSTORE<Vec<int64_t>, Global<int64_t>, AtomicType::AtomicAdd>(tensor, tile);
#elif CASE == 19
  Vec<float> vec;
  TileLeft<float, 16, 32> left;
  TMOV(left, vec);
#elif CASE == 20
  Vec<int32_t> a;
  TDIV(a, a, a);
#elif CASE == 21
  Tile<TileType::Mat, float, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor, 512> tile;
  Global<float> tensor;
  TLOAD(tile, tensor);
#elif CASE == 22
  Global<const float> tensor;
  Vec<float> tile;
  TSTORE(tensor, tile);
#elif CASE == 23
  GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<1, 1, 1, 1, 1> > tensor;
  tensor.SetShape<4>(3);
#elif CASE == 24
  Vec<float, 4096, 8> tile;
  Global<float> tensor;
  TLOAD(tile, tensor);
#elif CASE == 25
  Vec<float8_e4m3_t, 4, 32> tile;
  static_cast<void>(tile);
#elif CASE == 26
  Global<float4_e2m1x2_t> tensor;
  static_cast<void>(tensor);
#elif CASE == 27
  Vec<float> tile;
  TMATMUL_MX(tile, tile, tile, tile, tile);
#elif CASE == 28
  Vec<float, 4, 8> tile;  // without a pad value
  TFILLPAD(tile, tile);
#elif CASE == 29
  Vec<int64_t, 4, 8> tile;
  Vec<int32_t, 4, 8> idx;
  TGATHER(tile, tile, idx, idx);
#elif CASE == 30
  Vec<int32_t, 4, 32> tile;
  Vec<uint32_t, 4, 32> idx;
  TSORT32(tile, tile, idx);
#endif
}
