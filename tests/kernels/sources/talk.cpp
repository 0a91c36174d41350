// What kernels can do with windows of chips, each alone: scenarios put it together. The first scalar is always the
// CommContext*, behind the tensors.
#include "lines.hpp"

#include "intrinsic.h"

namespace {

AICORE inline __gm__ CommContext* context_of(int64_t argument) {
  return reinterpret_cast<__gm__ CommContext*>(argument);
}
AICORE inline int32_t* words_of(int64_t argument) { return reinterpret_cast<__gm__ int32_t*>(argument); }

}  // namespace

// in; context, part of floats, peer, first element: the line goes to the peer's part.
extern "C" __aicore__ void put(__gm__ int64_t* args) {
  auto* there = CommRemotePtr(context_of(args[1]), reinterpret_cast<__gm__ float*>(args[2]), static_cast<int>(args[3]));
  put_line(there + args[4], data_of(args[0]), count_of(args[0]));
}

// out; context, part of floats, peer: the peer's part.
extern "C" __aicore__ void get(__gm__ int64_t* args) {
  auto* there = CommRemotePtr(context_of(args[1]), reinterpret_cast<__gm__ float*>(args[2]), static_cast<int>(args[3]));
  copy_line(data_of(args[0]), there, count_of(args[0]));
}

// out; context, part of floats: the parts of all ranks, one after another.
extern "C" __aicore__ void get_all(__gm__ int64_t* args) {
  auto* ctx = context_of(args[1]);
  const auto ranks = static_cast<int>(ctx->rankNum);
  const int64_t count = count_of(args[0]) / ranks;
  for (int peer = 0; peer < ranks; ++peer) {
    copy_line(data_of(args[0]) + peer * count, CommRemotePtr(ctx, reinterpret_cast<__gm__ float*>(args[2]), peer),
              count);
  }
}

// out (five floats); context, part: what the table of windows says.
extern "C" __aicore__ void look_at_context(__gm__ int64_t* args) {
  float* out = data_of(args[0]);
  const auto* ctx = context_of(args[1]);
  int others = 0;
  for (uint32_t rank = 0; rank < ctx->rankNum; ++rank) others += ctx->windowsIn[rank] != 0 ? 1 : 0;
  out[0] = static_cast<float>(ctx->rankId);
  out[1] = static_cast<float>(ctx->rankNum);
  out[2] = static_cast<float>(ctx->winSize);
  out[3] = ctx->windowsIn[ctx->rankId] == static_cast<uint64_t>(args[2]) ? 1 : 0;
  out[4] = static_cast<float>(others);
}

// context, signals, rank, index, value, operation (0 add, 1 set). Rank -1: all.
extern "C" __aicore__ void notify(__gm__ int64_t* args) {
  auto* ctx = context_of(args[0]);
  for (int rank = 0; rank < static_cast<int>(ctx->rankNum); ++rank) {
    if (args[2] >= 0 && args[2] != rank) continue;
    comm::Signal there(CommRemotePtr(ctx, words_of(args[1]) + args[3], rank));
    comm::TNOTIFY(there, static_cast<int32_t>(args[4]), args[5] == 0 ? comm::NotifyOp::AtomicAdd : comm::NotifyOp::Set);
  }
}

// context, signals, index, value: until it has that value.
extern "C" __aicore__ void await(__gm__ int64_t* args) {
  comm::Signal here(words_of(args[1]) + args[2]);
  comm::TWAIT(here, static_cast<int32_t>(args[3]), comm::WaitCmp::EQ);
}

// out (six floats); context, signals, value: which comparisons hold, in the order ==, !=, >, >=, <, <=. Those that do
// end a wait at once.
extern "C" __aicore__ void compare(__gm__ int64_t* args) {
  constexpr comm::WaitCmp kAll[] = {comm::WaitCmp::EQ, comm::WaitCmp::NE, comm::WaitCmp::GT,
                                    comm::WaitCmp::GE, comm::WaitCmp::LT, comm::WaitCmp::LE};
  comm::Signal here(words_of(args[2]));
  const auto value = static_cast<int32_t>(args[3]);
  for (int i = 0; i < 6; ++i) {
    const bool holds = comm::TTEST(here, value, kAll[i]);
    data_of(args[0])[i] = holds ? 1 : 0;
    if (holds) comm::TWAIT(here, value, kAll[i]);
  }
}

// context, signals (index, value of each add), rounds: all add to one signal of rank 0, many times.
extern "C" __aicore__ void add_to_one(__gm__ int64_t* args) {
  auto* ctx = context_of(args[0]);
  comm::Signal there(CommRemotePtr(ctx, words_of(args[1]), 0));
  for (int64_t round = 0; round < args[2]; ++round) comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  if (ctx->rankId != 0) return;
  comm::Signal here(words_of(args[1]));
  comm::TWAIT(here, static_cast<int32_t>(args[2]) * static_cast<int32_t>(ctx->rankNum), comm::WaitCmp::EQ);
}

// line, wrong (one float); context, part of floats; context, signals (full, taken); rounds: each round a line goes to
// the right, with a signal behind it. A rank that sees the signal sees the line.
extern "C" __aicore__ void hand_round(__gm__ int64_t* args) {
  float* line = data_of(args[0]);
  const int64_t count = count_of(args[0]);
  auto* ctx = context_of(args[2]);
  auto* part = reinterpret_cast<__gm__ float*>(args[3]);
  auto* ctx_of_signals = context_of(args[4]);
  const int ranks = static_cast<int>(ctx->rankNum);
  const int right = (static_cast<int>(ctx->rankId) + 1) % ranks;
  const int left = (static_cast<int>(ctx->rankId) + ranks - 1) % ranks;
  float wrong = 0;
  for (int32_t round = 1; round <= static_cast<int32_t>(args[6]); ++round) {
    for (int64_t i = 0; i < count; ++i) line[i] = static_cast<float>(round);
    dcci(line, ENTIRE_DATA_CACHE, CACHELINE_OUT);
    dsb(DSB_DDR);
    put_line(CommRemotePtr(ctx, part, right), line, count);
    comm::Signal full(CommRemotePtr(ctx_of_signals, words_of(args[5]), right));
    comm::TNOTIFY(full, 1, comm::NotifyOp::AtomicAdd);
    comm::Signal mine(words_of(args[5]));
    comm::TWAIT(mine, round, comm::WaitCmp::GE);
    for (int64_t i = 0; i < count; ++i) wrong += part[i] == static_cast<float>(round) ? 0.0f : 1.0f;
    comm::Signal taken(CommRemotePtr(ctx_of_signals, words_of(args[5]) + 1, left));
    comm::TNOTIFY(taken, 1, comm::NotifyOp::AtomicAdd);
    comm::Signal free(words_of(args[5]) + 1);
    comm::TWAIT(free, round, comm::WaitCmp::GE);
  }
  data_of(args[1])[0] = wrong;
}
