// As all_to_all, by asynchronous puts with a signal attached: nobody waits for anything but the bytes.
// args: in, out (P parts each); CommContext*, window of floats (P parts), signals, round.
#include "lines.hpp"

#include "intrinsic.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  float *in = data_of(args[0]), *out = data_of(args[1]);
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[2]);
  auto* inbox = reinterpret_cast<__gm__ float*>(args[3]);
  auto* signals = reinterpret_cast<__gm__ int32_t*>(args[4]);
  const auto round = static_cast<int32_t>(args[5]);
  const int ranks = static_cast<int>(ctx->rankNum);
  const int me = static_cast<int>(ctx->rankId);
  const int64_t part = count_of(args[0]) / ranks;

  Tile<TileType::Vec, uint8_t, 1, comm::sdma::UB_ALIGN_SIZE> scratch;
  TASSIGN(scratch, 0x10000);
  comm::AsyncSession session;
  comm::BuildAsyncSession(scratch, get_dma_workspace(args, 0), session);
  comm::AsyncEvent last;
  for (int step = 0; step < ranks; ++step) {
    const int peer = (me + step) % ranks;
    Line source = line_at(in + peer * part, part);
    Line target = line_at(CommRemotePtr(ctx, inbox, peer) + me * part, part);
    comm::Signal arrived(CommRemotePtr(ctx, signals, peer));
    last = comm::TPUT_ASYNC(target, source, session, arrived, 1, comm::NotifyOp::AtomicAdd);
  }
  comm::Signal here(signals);
  comm::TWAIT(here, (round + 1) * ranks, comm::WaitCmp::GE);
  last.Wait(session);
  copy_line(out, inbox, ranks * part);
  meet(ctx, signals + 1, round + 1);
}
