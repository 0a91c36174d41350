// args: x, out, inbox (a window), signal (a window); CommContext*. out = the sum of x over the ranks of the domain.
#include "lines.hpp"

template <typename T>
AICORE inline __gm__ T* remote_ptr(__gm__ CommContext* ctx, __gm__ T* local, int rank) {
  const uint64_t offset = reinterpret_cast<uint64_t>(local) - ctx->windowsIn[ctx->rankId];
  return reinterpret_cast<__gm__ T*>(ctx->windowsIn[rank] + offset);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[4]);
  const int64_t count = count_of(args[0]);
  const int ranks = static_cast<int>(ctx->rankNum), me = static_cast<int>(ctx->rankId);
  auto* inbox = data_of(args[2]);
  auto* signal = reinterpret_cast<__gm__ int32_t*>(data_of(args[3]));
  Piece sum(count), piece(count);
  TASSIGN(sum, 0);
  TASSIGN(piece, kSecond);
  Line mine = line_at(data_of(args[0]), count);

  for (int peer = 0; peer < ranks; ++peer) {
    Line there = line_at(remote_ptr(ctx, inbox, peer) + me * count, count);
    comm::TPUT(there, mine, piece);
    pipe_barrier(PIPE_ALL);
    comm::Signal arrived(remote_ptr(ctx, signal, peer));
    comm::TNOTIFY(arrived, 1, comm::NotifyOp::AtomicAdd);
  }
  comm::Signal here(signal);
  comm::TWAIT(here, ranks, comm::WaitCmp::GE);
  pipe_barrier(PIPE_ALL);

  Line first = line_at(inbox, count);
  TLOAD(sum, first);
  for (int rank = 1; rank < ranks; ++rank) {
    Line next = line_at(inbox + rank * count, count);
    TLOAD(piece, next);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(sum, sum, piece);
    pipe_barrier(PIPE_ALL);
  }
  Line out = line_at(data_of(args[1]), count);
  pipe_barrier(PIPE_ALL);
  TSTORE(out, sum);
  pipe_barrier(PIPE_ALL);
}
