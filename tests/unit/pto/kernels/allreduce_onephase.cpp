// Every rank sums the inputs of all. Its scratch is a window: data first, one signal per rank behind it.
#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#include <cstdint>

#include <pto/comm/comm_types.hpp>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

#include "platform_comm/comm_context.h"
#include "tensor.h"

using namespace pto;

static constexpr size_t ALLREDUCE_COUNT = 256;
static constexpr int NUM_RANKS = 16;

template <typename T>
AICORE inline __gm__ T* CommRemotePtr(__gm__ CommContext* ctx, __gm__ T* local, int rank) {
  const uint64_t offset = reinterpret_cast<uint64_t>(local) - ctx->windowsIn[ctx->rankId];
  return reinterpret_cast<__gm__ T*>(ctx->windowsIn[rank] + offset);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  __gm__ Tensor* input = reinterpret_cast<__gm__ Tensor*>(args[0]);
  __gm__ Tensor* output = reinterpret_cast<__gm__ Tensor*>(args[1]);
  __gm__ Tensor* scratch = reinterpret_cast<__gm__ Tensor*>(args[2]);
  const int nranks = static_cast<int>(args[3]);
  __gm__ CommContext* ctx = reinterpret_cast<__gm__ CommContext*>(args[4]);

  __gm__ float* in = reinterpret_cast<__gm__ float*>(input->buffer.addr) + input->start_offset;
  __gm__ float* out = reinterpret_cast<__gm__ float*>(output->buffer.addr) + output->start_offset;
  __gm__ float* data = reinterpret_cast<__gm__ float*>(scratch->buffer.addr) + scratch->start_offset;
  __gm__ int32_t* signals = reinterpret_cast<__gm__ int32_t*>(data + ALLREDUCE_COUNT);

  using ShapeDyn = Shape<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC>;
  using StrideDyn = Stride<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC>;
  using Global = GlobalTensor<float, ShapeDyn, StrideDyn, Layout::ND>;
  using TileData = Tile<TileType::Vec, float, 1, ALLREDUCE_COUNT, BLayout::RowMajor, -1, -1>;
  const int my_rank = static_cast<int>(ctx->rankId);
  if (nranks <= 0 || nranks > NUM_RANKS) {
    pipe_barrier(PIPE_ALL);
    return;
  }

  ShapeDyn shape(1, 1, 1, 1, ALLREDUCE_COUNT);
  StrideDyn stride(ALLREDUCE_COUNT, ALLREDUCE_COUNT, ALLREDUCE_COUNT, ALLREDUCE_COUNT, 1);
  TileData accTile(1, ALLREDUCE_COUNT);
  TileData recvTile(1, ALLREDUCE_COUNT);
  TASSIGN(accTile, 0x0);
  TASSIGN(recvTile, 0x10000);

  Global inG(in, shape, stride);
  Global outG(out, shape, stride);
  Global dataG(data, shape, stride);

  TLOAD(accTile, inG);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(dataG, accTile);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  pipe_barrier(PIPE_ALL);

  for (int peer = 0; peer < nranks; ++peer) {
    if (peer == my_rank) continue;
    comm::Signal sig(CommRemotePtr(ctx, signals + my_rank, peer));
    comm::TNOTIFY(sig, (int32_t)1, comm::NotifyOp::AtomicAdd);
  }
  for (int peer = 0; peer < nranks; ++peer) {
    if (peer == my_rank) continue;
    comm::Signal sig(signals + peer);
    comm::TWAIT(sig, (int32_t)1, comm::WaitCmp::GE);
  }
  pipe_barrier(PIPE_ALL);

  for (int peer = 0; peer < nranks; ++peer) {
    if (peer == my_rank) continue;
    Global remoteG(CommRemotePtr(ctx, data, peer), shape, stride);
    TLOAD(recvTile, remoteG);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(accTile, accTile, recvTile);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  }
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(outG, accTile);
  pipe_barrier(PIPE_ALL);
}
