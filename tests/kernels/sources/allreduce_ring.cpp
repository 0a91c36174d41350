// Chunks travel around the ring twice: summed at first, then as results. Neighbours wait for each other only.
// args: in, out; CommContext*, window of floats (one inbox per step), signals (one per step, then one for the end),
// round.
#include "lines.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  float *in = data_of(args[0]), *out = data_of(args[1]);
  const int64_t count = count_of(args[0]);
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[2]);
  auto* inboxes = reinterpret_cast<__gm__ float*>(args[3]);
  auto* signals = reinterpret_cast<__gm__ int32_t*>(args[4]);
  const auto round = static_cast<int32_t>(args[5]);
  const int ranks = static_cast<int>(ctx->rankNum);
  const int me = static_cast<int>(ctx->rankId);
  const int right = (me + 1) % ranks;
  const int64_t chunk = (count + ranks - 1) / ranks;
  const auto first_of = [&](int part) { return part * chunk < count ? part * chunk : count; };
  const auto size_of = [&](int part) { return first_of(part + 1) - first_of(part); };

  copy_line(out, in, count);
  for (int step = 0; step < 2 * (ranks - 1); ++step) {
    const bool summing = step < ranks - 1;
    const int sent = (me - step + 2 * ranks) % ranks;
    const int received = (sent - 1 + ranks) % ranks;
    float* inbox = inboxes + step * chunk;
    put_line(CommRemotePtr(ctx, inbox, right), out + first_of(sent), size_of(sent));
    comm::Signal there(CommRemotePtr(ctx, signals + step, right));
    comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
    comm::Signal here(signals + step);
    comm::TWAIT(here, round + 1, comm::WaitCmp::GE);
    pipe_barrier(PIPE_ALL);
    if (summing) {
      add_lines(out + first_of(received), out + first_of(received), inbox, size_of(received));
    } else {
      copy_line(out + first_of(received), inbox, size_of(received));
    }
  }
  meet(ctx, signals + 2 * (ranks - 1), round + 1);
}
