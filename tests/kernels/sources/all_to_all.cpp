// Part p of the input goes to rank p.
// args: in, out (P parts each); CommContext*, window of floats (P parts), signals, round.
#include "lines.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  float *in = data_of(args[0]), *out = data_of(args[1]);
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[2]);
  auto* inbox = reinterpret_cast<__gm__ float*>(args[3]);
  auto* signals = reinterpret_cast<__gm__ int32_t*>(args[4]);
  const auto round = static_cast<int32_t>(args[5]);
  const int ranks = static_cast<int>(ctx->rankNum);
  const int me = static_cast<int>(ctx->rankId);
  const int64_t part = count_of(args[0]) / ranks;

  for (int step = 0; step < ranks; ++step) {
    const int peer = (me + step) % ranks;
    put_line(CommRemotePtr(ctx, inbox, peer) + me * part, in + peer * part, part);
  }
  meet(ctx, signals, 2 * round + 1);
  copy_line(out, inbox, ranks * part);
  meet(ctx, signals, 2 * round + 2);
}
