// Kernels of several ranks that wait for each other, and the mistakes people make there.
#include "seeded_kernels.hpp"

#include <intrinsic.h>
#include <platform_comm/comm_context.h>
#include <tensor.h>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kRows = 8;
constexpr int kCols = 64;
constexpr int kHalf = kRows * kCols;
using TileShape = Tile<TileType::Vec, float, kRows, kCols>;
using GlobalShape = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
using Line = GlobalTensor<float, Shape<1, 1, 1, 1, 2 * kHalf>, Stride<1, 1, 1, 1, 1>>;

float* data_of(int64_t argument) {
  auto* tensor = reinterpret_cast<Tensor*>(argument);
  return reinterpret_cast<float*>(tensor->buffer.addr) + tensor->start_offset;
}

/// Everything a kernel is given.
struct Arguments {
  explicit Arguments(int64_t* args)
      : in(data_of(args[0])),
        out(data_of(args[1])),
        ctx(reinterpret_cast<CommContext*>(args[2])),
        staged(reinterpret_cast<float*>(args[3])),
        signal(reinterpret_cast<int32_t*>(staged + 2 * kHalf)),
        mistake(static_cast<Mistake>(args[4])),
        ranks(static_cast<int>(ctx->rankNum)) {}
  float* in;
  float* out;
  CommContext* ctx;
  float* staged;
  int32_t* signal;
  Mistake mistake;
  int ranks;
};

void copy_half(float* to, float* from) {
  TileShape tile;
  TASSIGN(tile, 0);
  GlobalShape source(from), target(to);
  TLOAD(tile, source);
  pipe_barrier(PIPE_ALL);
  TSTORE(target, tile);
  pipe_barrier(PIPE_ALL);
}

void notify_all(const Arguments& a) {
  for (int peer = 0; peer < a.ranks; ++peer) {
    comm::Signal there(comm::CommRemotePtr(a.ctx, a.signal, peer));
    comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  }
}

void sum_half(const Arguments& a, int offset) {
  TileShape sum, part;
  TASSIGN(sum, 0);
  TASSIGN(part, 0x4000);
  TEXPANDS(sum, 0.0F);
  for (int peer = 0; peer < a.ranks; ++peer) {
    GlobalShape theirs(comm::CommRemotePtr(a.ctx, a.staged + offset, peer));
    TLOAD(part, theirs);
    pipe_barrier(PIPE_ALL);
    TADD(sum, sum, part);
    pipe_barrier(PIPE_ALL);
  }
  GlobalShape target(a.out + offset);
  TSTORE(target, sum);
  pipe_barrier(PIPE_ALL);
}

}  // namespace

extern "C" {

void exchange_kernel(int64_t* args) {
  const Arguments a(args);
  copy_half(a.staged, a.in);
  if (a.mistake == Mistake::early_notify) notify_all(a);
  copy_half(a.staged + kHalf, a.in + kHalf);
  if (a.mistake != Mistake::early_notify) notify_all(a);
  comm::Signal here(a.signal);
  const int32_t needed = a.mistake == Mistake::waits_for_one ? 1 : a.ranks;
  if (a.mistake != Mistake::no_wait) comm::TWAIT(here, needed, comm::WaitCmp::GE);
  sum_half(a, 0);
  sum_half(a, kHalf);
}

void hand_on_kernel(int64_t* args) {
  const Arguments a(args);
  const int next = (static_cast<int>(a.ctx->rankId) + 1) % a.ranks;
  Tile<TileType::Vec, uint8_t, 1, 256> scratch;
  TASSIGN(scratch, 0x8000);
  comm::AsyncSession session;
  comm::BuildAsyncSession(scratch, get_dma_workspace(args, 0), session);
  Line from(a.in), to(comm::CommRemotePtr(a.ctx, a.staged, next));
  comm::Signal there(comm::CommRemotePtr(a.ctx, a.signal, next));
  comm::AsyncEvent event;
  if (a.mistake == Mistake::notifies_apart) {
    event = comm::TPUT_ASYNC(to, from, session);
    comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  } else {
    event = comm::TPUT_ASYNC(to, from, session, there, 1, comm::NotifyOp::AtomicAdd);
  }
  comm::Signal here(a.signal);
  comm::TWAIT(here, 1, comm::WaitCmp::GE);
  copy_half(a.out, a.staged);
  copy_half(a.out + kHalf, a.staged + kHalf);
  event.Wait(session);
}

void look_back_kernel(int64_t* args) {
  const Arguments a(args);
  const int next = (static_cast<int>(a.ctx->rankId) + 1) % a.ranks;
  comm::Signal there(comm::CommRemotePtr(a.ctx, a.signal, next));
  comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  a.out[0] = comm::TTEST(there, 1, comm::WaitCmp::GE) ? 1.0F : 0.0F;
  comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
}
}
