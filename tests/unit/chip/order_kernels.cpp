// Kernels that forget one order each, as the scalar behind their tensors says. For simulated cores, and for those of a
// GPU: then each kind of core has its own.
#include <intrinsic.h>
#include <platform_comm/comm_context.h>
#include <tensor.h>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

#include "order_kernels.hpp"

using namespace pto;

namespace {

constexpr int kRows = 16;
constexpr int kCols = 64;
using TileShape = Tile<TileType::Vec, float, kRows, kCols>;
using GlobalShape = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;

AICORE float* data_of(int64_t argument) {
  auto* tensor = reinterpret_cast<Tensor*>(argument);
  return reinterpret_cast<float*>(tensor->buffer.addr) + tensor->start_offset;
}

AICORE void order(pipe_t from, pipe_t to, int id, bool skip) {
  if (skip) return;
  set_flag(from, to, id);
  wait_flag(from, to, id);
}

}  // namespace

extern "C" {

#if !defined(__DAV_CUBE__)
// args: a, out, then scalar: which order to forget. out = the first 64 of a in reverse, with the scalar pipe's indices,
// then scattered once more. Columns beside each other, of one tile, need no order.
AICORE void selecting_kernel(int64_t* args) {
  const auto forget = static_cast<Forget>(args[2]);
  using Row = Tile<TileType::Vec, float, 1, 64>;
  using Places = Tile<TileType::Vec, int32_t, 1, 64>;
  using Columns = Tile<TileType::Vec, float, 8, 128, BLayout::RowMajor, 8, 64>;
  using Line = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 1, 1>>;
  Row row, reversed;
  Places places, scratch;
  TASSIGN(row, 0x0);
  TASSIGN(reversed, 0x100);
  TASSIGN(places, 0x200);
  TASSIGN(scratch, 0x300);
  Line from(data_of(args[0])), to(data_of(args[1]));
  TLOAD(row, from);
  TCI<Places, int32_t, 1>(places, 63);
  order(PIPE_MTE2, PIPE_V, 0, false);
  order(PIPE_S, PIPE_V, 1, forget == Forget::count_before_gather);
  TGATHER(reversed, row, places, scratch);
  order(PIPE_V, PIPE_MTE3, 2, forget == Forget::gather_before_store);
  TSTORE(to, reversed);
  MSCATTER<Coalesce::Elem>(to, row, places);
  order(PIPE_MTE3, PIPE_MTE2, 3, forget == Forget::scatter_before_load);
  order(PIPE_V, PIPE_MTE2, 4, forget == Forget::scatter_before_load);
  TLOAD(row, to);
  Columns left, right;
  TASSIGN(left, 0x1000);
  TASSIGN(right, 0x1000 + 256);
  GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<1, 1, 1, 64, 1>> eight(data_of(args[0]));
  TEXPANDS(left, 1.0f);
  TLOAD(right, eight);
  TMULS(left, left, 2.0f);
  pipe_barrier(PIPE_ALL);
}

// args: a, out, then scalar: which order to forget. out = 2a, twice, then out += out.
AICORE void pipeline_kernel(int64_t* args) {
  const auto forget = static_cast<Forget>(args[2]);
  TileShape in, sum;
  TASSIGN(in, 0x0);
  TASSIGN(sum, 0x1000);
  GlobalShape from(data_of(args[0])), to(data_of(args[1]));
  for (int round = 0; round < 2; ++round) {
    TLOAD(in, from);
    order(PIPE_MTE2, PIPE_V, 0, forget == Forget::load_before_add);
    TADD(sum, in, in);
    order(PIPE_V, PIPE_MTE2, 1, forget == Forget::add_before_next_load);
    order(PIPE_V, PIPE_MTE3, 2, forget == Forget::add_before_store);
    TSTORE(to, sum);
    order(PIPE_MTE3, PIPE_V, 3, forget == Forget::store_before_next_add);
  }
  order(PIPE_MTE3, PIPE_MTE2, 4, forget == Forget::store_before_load);
  TLOAD(in, to);
  if (forget == Forget::transitive) {  // MTE2 to V to MTE3: enough for a store of what was loaded
    order(PIPE_MTE2, PIPE_V, 5, false);
    order(PIPE_V, PIPE_MTE3, 6, false);
    TSTORE(to, in);
    return;
  }
  order(PIPE_MTE2, PIPE_V, 5, false);
  TADD(sum, in, in);
  order(PIPE_V, PIPE_MTE3, 6, false);
  TSTORE(to, sum);
}

#endif
#if !defined(__DAV_VEC__)
// args: a, b, out (16 x 16 each), then scalar: which order to forget. out = a b. For a cube core.
AICORE void matmul_kernel(int64_t* args) {
  const auto forget = static_cast<Forget>(args[3]);
  constexpr int kSide = 16;
  using Square = GlobalTensor<float, Shape<1, 1, 1, kSide, kSide>, Stride<1, 1, 1, kSide, 1>>;
  using MatTile = Tile<TileType::Mat, float, kSide, kSide, BLayout::ColMajor, kSide, kSide, SLayout::RowMajor, 512>;
  MatTile a, b;
  TileLeft<float, kSide, kSide> left;
  TileRight<float, kSide, kSide> right;
  TileAcc<float, kSide, kSide> product;
  TASSIGN(a, 0);
  TASSIGN(b, 0x1000);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(product, 0);
  Square from_a(data_of(args[0])), from_b(data_of(args[1])), to(data_of(args[2]));
  TLOAD(a, from_a);
  TLOAD(b, from_b);
  order(PIPE_MTE2, PIPE_MTE1, 0, forget == Forget::load_before_move);
  TMOV(left, a);
  TMOV(right, b);
  order(PIPE_MTE1, PIPE_M, 0, forget == Forget::move_before_matmul);
  TMATMUL(product, left, right);
  order(PIPE_M, PIPE_FIX, 0, forget == Forget::matmul_before_store);
  TSTORE(to, product);
}

#endif
#if !defined(__DAV_CUBE__)
// args: a, then scalars: CommContext*, window (kTileFloats floats, then a signal), which order to forget
AICORE void notifier_kernel(int64_t* args) {
  auto* ctx = reinterpret_cast<CommContext*>(args[1]);
  auto* staged = reinterpret_cast<float*>(args[2]);
  const auto forget = static_cast<Forget>(args[3]);
  TileShape tile;
  TASSIGN(tile, 0);
  GlobalShape from(data_of(args[0]));
  const int peer = static_cast<int>((ctx->rankId + 1) % ctx->rankNum);
  float* there = comm::CommRemotePtr(ctx, staged, peer);
  GlobalShape to(there);
  TLOAD(tile, from);
  order(PIPE_MTE2, PIPE_MTE3, 0, false);
  TSTORE(to, tile);
  order(PIPE_MTE3, PIPE_S, 1, forget == Forget::store_before_notify);
  comm::Signal signal(reinterpret_cast<int32_t*>(there + kRows * kCols));
  comm::TNOTIFY(signal, 1, comm::NotifyOp::AtomicAdd);
}
#endif
}
