// Reads a float of a peer by a pointer, which only works on one host.
// args: out (one float); CommContext*, shown (one float), peer.
#include "lines.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  auto* ctx = reinterpret_cast<__gm__ CommContext*>(args[1]);
  auto* shown = reinterpret_cast<__gm__ float*>(args[2]);
  const auto* theirs = CommRemotePtr(ctx, shown, static_cast<int>(args[3]));
  data_of(args[0])[0] = *theirs;
}
