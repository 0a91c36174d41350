// What the stand-in for the compiler of Ascend chips puts in front of a kernel: what that compiler knows by itself, and
// the way in for simulated cores.
#pragma once

#include <sched.h>

#include <cstdint>

#include <intrinsic.h>
#include <pto/common/order.hpp>
#include <pto/target/core.hpp>

/// Of the block that begins on this thread. A kernel's entry asks before its first instruction.
inline thread_local int64_t standin_block = 0;
inline int64_t get_block_idx() { return standin_block; }
/// Which of the vector cores of a cluster.
inline thread_local int64_t standin_sub_block = 0;
inline int64_t get_subblockid() { return standin_sub_block; }

/// Set when the device is reset, or a stream destroyed, without waiting for its kernels.
extern "C" {
__attribute__((visibility("default"))) extern int standin_stop;
int standin_stop = 0;
}

/// A wait as on a chip: the core looks until it sees the value. Who notifies may be another process, which wakes
/// nobody.
inline void standin_wait(BatonCore* core, const int32_t* signal, int32_t value, uint32_t comparison,
                         const BatonPlace* place) {
  while (core->table->test(core, signal, value, comparison, place) == 0) {
    // Written by the thread that resets; nothing else is handed over.
    if (__atomic_load_n(&standin_stop, __ATOMIC_RELAXED) != 0) {
      const BatonFailure failure{BATON_KERNEL_WAIT_TIMEOUT, 0, place, "the device is reset"};
      core->table->fail(core, &failure);
    }
    ::sched_yield();
  }
}

/// Lets the waits of a core be such, as long as it lives.
class StandinWaits {
 public:
  explicit StandinWaits(BatonCore& core) : core_(core), given_(core.table), table_(*core.table) {
    table_.wait = standin_wait;
    core_.table = &table_;
  }
  StandinWaits(const StandinWaits&) = delete;
  StandinWaits& operator=(const StandinWaits&) = delete;
  ~StandinWaits() { core_.table = given_; }

 private:
  BatonCore& core_;
  const BatonCoreTable* given_;
  BatonCoreTable table_;
};

extern "C" {
/// Which core the code is for, as the loader knows it.
__attribute__((visibility("default"))) extern const uint32_t standin_core;
const uint32_t standin_core = STANDIN_CORE;

/// What simulated cores run: args[0] is the entry, of a cluster's cube core args[2]; args[1] is its argument.
__attribute__((visibility("default"))) void standin_enter(int64_t* args);
void standin_enter(int64_t* args) {
  const StandinWaits waits(*baton_core_current());
  standin_block = get_block_idx(args);
  standin_sub_block = get_sub_block_id(args);
#if defined(STANDIN_CLUSTER) && defined(__DAV_CUBE__)
  const int64_t entry = args[2];
#else
  const int64_t entry = args[0];
#endif
  reinterpret_cast<void (*)(int64_t*)>(entry)(reinterpret_cast<int64_t*>(args[1]));
}
}
