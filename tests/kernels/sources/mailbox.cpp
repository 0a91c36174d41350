// Rank 0 writes words and then counts up; rank 1 asks for the counter until it is there and reads the words.
// args: out (how many words were wrong); CommContext*, words, signals (data, taken), rounds.
#include "lines.hpp"

constexpr int kWords = 32;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  float* out = data_of(args[0]);
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[1]);
  auto* words = reinterpret_cast<__gm__ int32_t*>(args[2]);
  auto* signals = reinterpret_cast<__gm__ int32_t*>(args[3]);
  const auto rounds = static_cast<int32_t>(args[4]);
  out[0] = 0;
  if (ctx->rankId > 1) return;
  const int peer = 1 - static_cast<int>(ctx->rankId);
  for (int32_t round = 1; round <= rounds; ++round) {
    comm::Signal here(signals + (ctx->rankId == 0 ? 1 : 0));
    comm::Signal there(CommRemotePtr(ctx, signals + (ctx->rankId == 0 ? 0 : 1), peer));
    if (ctx->rankId == 0) {
      auto* theirs = CommRemotePtr(ctx, words, peer);
      for (int i = 0; i < kWords; ++i) theirs[i] = round + i;
      comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
      comm::TWAIT(here, round, comm::WaitCmp::GE);
    } else {
      while (!comm::TTEST(here, round, comm::WaitCmp::GE)) {
      }
      for (int i = 0; i < kWords; ++i) out[0] += words[i] == round + i ? 0.0f : 1.0f;
      comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
    }
  }
}
