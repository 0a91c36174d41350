// Every rank stages its input and sums the inputs of all.
// args: in, out; CommContext*, window of floats, signals, round.
#include "lines.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  float *in = data_of(args[0]), *out = data_of(args[1]);
  const int64_t count = count_of(args[0]);
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[2]);
  auto* staged = reinterpret_cast<__gm__ float*>(args[3]);
  auto* signals = reinterpret_cast<__gm__ int32_t*>(args[4]);
  const auto round = static_cast<int32_t>(args[5]);

  copy_line(staged, in, count);
  meet(ctx, signals, 2 * round + 1);
  copy_line(out, CommRemotePtr(ctx, staged, 0), count);
  for (int peer = 1; peer < static_cast<int>(ctx->rankNum); ++peer) {
    add_lines(out, out, CommRemotePtr(ctx, staged, peer), count);
  }
  // Nobody stages the next round before everybody has read this one.
  meet(ctx, signals, 2 * round + 2);
}
