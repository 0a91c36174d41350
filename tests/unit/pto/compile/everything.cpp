// Every tile instruction at least once: what compiling the whole set takes.
#include <pto/pto-inst.hpp>

#include "pto_async_kernel_api.h"
#include "tensor.h"

using namespace pto;

namespace {

template <typename Element, int Rows = 32, int Cols = 64>
using Vec = Tile<TileType::Vec, Element, Rows, Cols, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
using Column = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor, DYNAMIC, DYNAMIC>;
using Padded = Tile<TileType::Vec, float, 32, 64, BLayout::RowMajor, 32, 64, SLayout::NoneBox, 512, PadValue::Min>;
template <typename Element>
using Global = GlobalTensor<Element, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, DYNAMIC, 1>>;

template <typename TileData>
AICORE void place(TileData& tile, int slot) {
  TASSIGN(tile, slot * 8192);
}

AICORE void numbers(Vec<float>& a, Vec<float>& b, Vec<float>& c, float s) {
  TADD(a, b, c);
  TSUB(a, b, c);
  TMUL(a, b, c);
  TDIV(a, b, c);
  TMAX(a, b, c);
  TMIN(a, b, c);
  TADDS(a, b, s);
  TSUBS(a, b, s);
  TMULS(a, b, s);
  TDIVS(a, b, s);
  TMAXS(a, b, s);
  TMINS(a, b, s);
  TLRELU(a, b, s);
  TAXPY(a, b, s);
  TEXP(a, b);
  TLOG(a, b);
  TSQRT(a, b);
  TRSQRT(a, b);
  TRECIP(a, b);
  TABS(a, b);
  TNEG(a, b);
  TRELU(a, b);
  TEXPANDS(a, s);
}

AICORE void halves(Vec<half>& a, Vec<half>& b, Vec<half>& c) {
  TADD(a, b, c);
  TMUL(a, b, c);
  TMAX(a, b, c);
  TMULS(a, b, 2.0f);
  TEXP(a, b);
}

AICORE void wholes(Vec<int32_t>& a, Vec<int32_t>& b, Vec<int32_t>& c) {
  TADD(a, b, c);
  TAND(a, b, c);
  TOR(a, b, c);
  TSHL(a, b, c);
  TSHR(a, b, c);
  TNOT(a, b);
  TMULS(a, b, 3);
}

AICORE void lines(Vec<float>& a, Vec<float>& b, Vec<float>& tmp, Column& column, Vec<float>& row) {
  TROWSUM(column, b, tmp);
  TROWMAX(column, b, tmp);
  TROWMIN(column, b, tmp);
  TROWPROD(column, b, tmp);
  TCOLSUM(row, b);
  TCOLMAX(row, b);
  TCOLMIN(row, b);
  TCOLPROD(row, b);
  TROWEXPAND(a, column);
  TCOLEXPAND(a, row);
  TROWEXPANDADD(a, b, column);
  TROWEXPANDSUB(a, b, column);
  TROWEXPANDMUL(a, b, column);
  TROWEXPANDDIV(a, b, column);
  TROWEXPANDMAX(a, b, column);
  TROWEXPANDMIN(a, b, column);
  TCOLEXPANDADD(a, b, row);
  TCOLEXPANDSUB(a, b, row);
  TCOLEXPANDMUL(a, b, row);
  TCOLEXPANDDIV(a, b, row);
  TCOLEXPANDMAX(a, b, row);
  TCOLEXPANDMIN(a, b, row);
  TCOLEXPANDEXPDIF(a, b, row);
}

AICORE void conversions(Vec<float>& f, Vec<half>& h, Vec<bfloat16_t>& b, Vec<int32_t>& i, Vec<int8_t>& c) {
  TCVT(h, f, RoundMode::CAST_RINT);
  TCVT(f, h, RoundMode::CAST_NONE);
  TCVT(b, f, RoundMode::CAST_RINT);
  TCVT(f, b, RoundMode::CAST_NONE);
  TCVT(i, f, RoundMode::CAST_TRUNC);
  TCVT(f, i, RoundMode::CAST_RINT);
  TCVT(c, h, RoundMode::CAST_RINT);
}

AICORE void places(Vec<float>& a, Vec<float>& b, Vec<float>& tmp, Vec<int32_t>& index, Vec<int32_t>& scratch,
                   Global<float>& global) {
  TMOV(a, b);
  TEXTRACT(a, b, 0, 0);
  Vec<float, 64, 32> turned(64, 32);
  place(turned, 6);
  TTRANS(turned, a, tmp);
  Vec<float, 64, 32> other(64, 32);
  TRESHAPE(other, a);
  TGATHER(a, b, index, scratch);
  Vec<float, 32, 32> packed(32, 32);
  place(packed, 7);
  TGATHER<decltype(packed), Vec<float>, MaskPattern::P0101>(packed, b);
  Padded padded;
  place(padded, 8);
  TFILLPAD(padded, a);
  Padded same;
  place(same, 0);
  TFILLPAD_INPLACE(same, a);
  TFILLPAD_EXPAND(padded, a);
  Vec<float, 32, 128> wide(32, 128);
  TASSIGN(wide, 9 * 8192);
  TCONCAT(wide, a, b);
  Vec<int32_t, 1, 64> counted(1, 64);
  place(counted, 11);
  TCI<decltype(counted), int32_t, 0>(counted, 5);
  MSCATTER<Coalesce::Elem>(global, a, index);
}

AICORE void sorting() {
  Vec<float, 1, 128> values(1, 128);
  Vec<uint32_t, 1, 128> index(1, 128);
  Vec<float, 1, 256> pairs(1, 256);
  Vec<float, 1, 256> merged(1, 256);
  Vec<float, 1, 512> both(1, 512);
  Vec<float, 1, 512> tmp(1, 512);
  place(values, 0);
  place(index, 1);
  place(pairs, 2);
  place(merged, 3);
  place(both, 4);
  place(tmp, 5);
  TSORT32(pairs, values, index);
  TMRGSORT(merged, pairs, 64);
  MrgSortExecutedNumList executed;
  TMRGSORT<decltype(both), decltype(tmp), decltype(pairs), decltype(merged), false>(both, executed, tmp, pairs, merged);
}

AICORE void transfers(Global<float>& from, Global<float>& to, Vec<float>& tile) {
  TLOAD(tile, from);
  TSTORE(to, tile);
  TSTORE<Vec<float>, Global<float>, AtomicType::AtomicAdd>(to, tile);
}

AICORE void messages(Global<float>& from, Global<float>& to, Vec<float>& tile, Vec<float>& second, int32_t* word,
                     uint8_t* workspace) {
  comm::Signal signal(word);
  comm::TPUT(to, from, tile);
  comm::TPUT(to, from, tile, second);
  comm::TGET(to, from, tile);
  comm::TNOTIFY(signal, 1, comm::NotifyOp::AtomicAdd);
  comm::TWAIT(signal, 1, comm::WaitCmp::GE);
  static_cast<void>(comm::TTEST(signal, 1, comm::WaitCmp::GE));
  comm::AsyncSession session;
  GlobalTensor<float, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>> line(from.data(), {1, 1, 1, 1, 64});
  if (!comm::BuildAsyncSession(tile, workspace, session)) return;
  comm::AsyncEvent event = comm::TPUT_ASYNC(line, line, session);
  event.Wait(session);
  comm::TGET_ASYNC(line, line, session).Wait(session);
  PrefetchAsyncContext context(workspace);
  static_cast<void>(TPREFETCH_ASYNC(line, context));
}

AICORE void products(Global<half>& from, Global<float>& to) {
  using MatTile = Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
  using BiasInMat = Tile<TileType::Mat, float, 1, 64, BLayout::RowMajor, 1, 64>;
  MatTile mat;
  BiasInMat row;
  TASSIGN(mat, 0);
  TASSIGN(row, 65536);
  TileLeft<half, 64, 64> left;
  TileRight<half, 64, 64> right;
  TileAcc<float, 64, 64> acc;
  Tile<TileType::Bias, float, 1, 64, BLayout::RowMajor, 1, 64> bias;
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  TASSIGN(bias, 0);
  TLOAD(mat, from);
  TMOV(left, mat);
  TMOV(right, mat);
  TMOV(bias, row);
  TEXTRACT(left, mat, 0, 0);
  TMATMUL(acc, left, right);
  TMATMUL_ACC(acc, left, right);
  TMATMUL_BIAS(acc, left, right, bias);
  TSTORE(to, acc);
  TMOV(mat, acc);
}

AICORE void pipes(__gm__ float* ring, Vec<float>& tile) {
  using Pipe = TPipe<0, Direction::DIR_BOTH, 8192, 4, 2>;
  Pipe pipe(ring, 0, 8192);
  TPUSH<Pipe, Vec<float>, TileSplitAxis::TILE_UP_DOWN>(pipe, tile);
  TPOP<Pipe, Vec<float>, TileSplitAxis::TILE_UP_DOWN>(pipe, tile);
  TFREE<Pipe, TileSplitAxis::TILE_UP_DOWN>(pipe);
}

}  // namespace

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  auto* x = reinterpret_cast<__gm__ Tensor*>(args[0]);
  auto* y = reinterpret_cast<__gm__ Tensor*>(args[1]);
  auto* data = reinterpret_cast<__gm__ float*>(x->buffer.addr);
  auto* out = reinterpret_cast<__gm__ float*>(y->buffer.addr);
  Global<float> from(data, {32, 64}, {64});
  Global<float> to(out, {32, 64}, {64});
  Global<half> narrow(reinterpret_cast<half*>(data), {64, 64}, {64});
  Vec<float> a(32, 64), b(32, 64), c(32, 64), tmp(32, 64), row(1, 64);
  Column column(32, 1);
  place(a, 0);
  place(b, 1);
  place(c, 2);
  place(tmp, 3);
  place(row, 4);
  place(column, 5);
  transfers(from, to, a);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  numbers(a, b, c, 2.0f);
  lines(a, b, tmp, column, row);
  Vec<half> ha(32, 64), hb(32, 64), hc(32, 64);
  place(ha, 12);
  place(hb, 13);
  place(hc, 14);
  halves(ha, hb, hc);
  Vec<int32_t> ia(32, 64), ib(32, 64), ic(32, 64);
  place(ia, 15);
  place(ib, 16);
  place(ic, 17);
  wholes(ia, ib, ic);
  Vec<bfloat16_t> bf(32, 64);
  Vec<int8_t> i8(32, 64);
  place(bf, 18);
  place(i8, 19);
  conversions(a, ha, bf, ia, i8);
  places(a, b, tmp, ia, ib, to);
  sorting();
  messages(from, to, a, b, reinterpret_cast<int32_t*>(args[2]), reinterpret_cast<uint8_t*>(args[3]));
  products(narrow, to);
  pipes(out, a);
  pipe_barrier(PIPE_ALL);
}
