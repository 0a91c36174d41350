// Each rank sums one chunk, then collects the chunks of the others.
// args: in, out; CommContext*, window of floats, signals, round.
#include "lines.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  float *in = data_of(args[0]), *out = data_of(args[1]);
  const int64_t count = count_of(args[0]);
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[2]);
  auto* staged = reinterpret_cast<__gm__ float*>(args[3]);
  auto* signals = reinterpret_cast<__gm__ int32_t*>(args[4]);
  const auto round = static_cast<int32_t>(args[5]);
  const int ranks = static_cast<int>(ctx->rankNum);
  const int me = static_cast<int>(ctx->rankId);
  const int64_t chunk = (count + ranks - 1) / ranks;
  const auto first_of = [&](int rank) { return rank * chunk < count ? rank * chunk : count; };
  const int64_t first = first_of(me);
  const int64_t mine = first_of(me + 1) - first;

  copy_line(staged, in, count);
  meet(ctx, signals, 3 * round + 1);
  // The others read other chunks of this window meanwhile.
  for (int step = 1; step < ranks; ++step) {
    add_lines(staged + first, staged + first, CommRemotePtr(ctx, staged, (me + step) % ranks) + first, mine);
  }
  meet(ctx, signals, 3 * round + 2);
  for (int peer = 0; peer < ranks; ++peer) {
    copy_line(out + first_of(peer), CommRemotePtr(ctx, staged, peer) + first_of(peer),
              first_of(peer + 1) - first_of(peer));
  }
  meet(ctx, signals, 3 * round + 3);
}
