// What a core of a GPU knows about the order of its kernel's work, in memory of the GPU: strict pipes.
#pragma once

#include <pto/order/touches.hpp>

namespace baton::kernel {

/// The last write of a pipe to memory; time 0: none.
struct GlobalWrite {
  uint64_t time;
  uint64_t address;
  uint32_t pipe;
  uint32_t pipes;
  BatonPlace place;
};

/// The director of the core alone, but for a look at what was touched.
struct OrderMemory {
  PipeOrder order;
  uint32_t pipes;  // of this kind of core: bits
  Found found;     // by all lanes
  // What the lanes look for.
  Touch next;
  Runs next_runs;
  PipeClock before;
  GlobalWrite last_write[kPipes];                 // to any memory
  GlobalWrite last_window_write[kPipes];          // to windows
  BatonPlace set_at[kPipes * kPipes * kFlagIds];  // flags
  Touches touches;

  PTO_ANYWHERE void begin(uint32_t of_core) {
    order.clear();
    pipes = of_core;
    for (GlobalWrite& write : last_write) write.time = 0;
    for (GlobalWrite& write : last_window_write) write.time = 0;
    touches.clear();
  }
};

}  // namespace baton::kernel
