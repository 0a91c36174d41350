// Meets many times; after each, everybody's stamp is there, and nobody's from after the next. One group of cores for
// each block: block b of all ranks.
// args: out (one float per block: how many stamps were wrong); CommContext*, stamps (one per block), signals (two per
// block), rounds.
#include "lines.hpp"

#include "intrinsic.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  float* out = data_of(args[0]);
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[1]);
  const int block = get_block_idx(args);
  auto* stamp = reinterpret_cast<__gm__ int32_t*>(args[2]) + block;
  auto* signal = reinterpret_cast<__gm__ int32_t*>(args[3]) + block;
  const auto rounds = static_cast<int32_t>(args[4]);
  float wrong = 0;
  for (int32_t round = 0; round < rounds; ++round) {
    *stamp = round + 1;
    meet(ctx, signal, 2 * round + 1);
    for (int peer = 0; peer < static_cast<int>(ctx->rankNum); ++peer) {
      if (*CommRemotePtr(ctx, stamp, peer) != round + 1) wrong += 1;
    }
    meet(ctx, signal, 2 * round + 2);
  }
  out[block] = wrong;
}
