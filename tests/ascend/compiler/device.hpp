// What the stand-in for the compiler of Ascend chips puts in front of a kernel: what that compiler knows by itself, and
// the way in for simulated cores.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
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

/// A wait as on a chip: the core looks until it sees the value. A kernel that notifies, of this process or another one,
/// wakes it; a plain store is seen at the next look. Each look lets other cores of this thread go on.
inline void standin_wait(BatonCore* core, const int32_t* signal, int32_t value, uint32_t comparison,
                         const BatonPlace* place) {
  constexpr int kLooks = 30;  // until all cores of the thread seem to wait
  constexpr timespec kLimit{0, 1'000'000};
  for (int looks = 0;; ++looks) {
    const int32_t seen = __atomic_load_n(signal, __ATOMIC_ACQUIRE);
    if (core->table->test(core, signal, value, comparison, place) != 0) return;
    // Written by the thread that resets; nothing else is handed over.
    if (__atomic_load_n(&standin_stop, __ATOMIC_RELAXED) != 0) {
      const BatonFailure failure{BATON_KERNEL_WAIT_TIMEOUT, 0, place, "the device is reset"};
      core->table->fail(core, &failure);
    }
    if (looks < kLooks) {
      ::sched_yield();
    } else {
      ::syscall(SYS_futex, signal, FUTEX_WAIT, seen, &kLimit, nullptr, 0);
    }
  }
}

struct StandinTable : BatonCoreTable {
  const BatonCoreTable* given;
};

inline void standin_notify(BatonCore* core, int32_t* signal, int32_t value, uint32_t op, const BatonPlace* place) {
  static_cast<const StandinTable*>(core->table)->given->notify(core, signal, value, op, place);
  ::syscall(SYS_futex, signal, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Lets a core wait and notify so, as long as it lives.
class StandinWaits {
 public:
  explicit StandinWaits(BatonCore& core) : core_(core), table_{*core.table, core.table} {
    table_.wait = standin_wait;
    table_.notify = standin_notify;
    core_.table = &table_;
  }
  StandinWaits(const StandinWaits&) = delete;
  StandinWaits& operator=(const StandinWaits&) = delete;
  ~StandinWaits() { core_.table = table_.given; }

 private:
  BatonCore& core_;
  StandinTable table_;
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
