// What a core of a GPU keeps in shared memory before its Vec buffer.
#pragma once

#include <intrinsic.h>
#include <pto/target/compiler.hpp>
#include <pto/target/core.hpp>
#include <pto/target/cuda/barrier.hpp>
#include <pto/target/cuda/feed.hpp>
#include <pto/target/cuda/lane_queue.hpp>
#include <pto/target/cuda/matrix_state.hpp>
#include <pto/target/cuda/run.hpp>
#include <pto/target/lane.hpp>

namespace baton::cuda {

#if defined(PTO_STRICT_PIPES)
inline constexpr bool kStrictPipes = true;
#else
inline constexpr bool kStrictPipes = false;
#endif

inline constexpr uint32_t kLastExtents = 4;
/// Of pto::TileType.
inline constexpr uint32_t kMatrices = 1;
inline constexpr uint32_t kLeftTiles = 2;  // Right follows
inline constexpr uint32_t kAccumulators = 4;

/// Loads that may be under way at once.
inline constexpr uint32_t kLoads = 16;
inline constexpr uint32_t kPipes = 8;
inline constexpr uint32_t kFlags = 8;

/// Where a load goes: from one 16 bytes of shared memory to before others.
struct LoadedBytes {
  uint16_t begin;
  uint16_t end;
  uint32_t work;  // the number of the work before which lanes wait for it, plus 1; 0: none
};

/// What the director has started and what of it is known to be done: pto/target/cuda/bulk_copy.hpp.
struct BulkCopies {
  uint32_t memory_changed;  // not 0: threads may have written to memory, and no fence came after that
  uint32_t lanes_wrote;     // not 0: those of this core have
  uint64_t loaded[kLoads];  // barriers: load number i uses i % kLoads
  LoadedBytes targets[kLoads];
  uint32_t loads_begun;
  uint32_t loads_ended;
  uint32_t stores_begun;
  uint32_t stores_read;
  uint32_t stores_finished;  // in memory
  // What the next load follows: works of lanes, and stores that have been read.
  uint32_t after_works;
  uint32_t after_stores;
  uint32_t fenced;  // works that were posted when all that lanes had written to tiles was fenced for copies
  // All memory that stores may still write to; empty if both are equal.
  uint64_t stored_begin;
  uint64_t stored_end;
  // How many had begun when the flag was set, the low half of that: of loads and of stores.
  uint16_t flags[2][kPipes][kFlags];
  uint16_t works_before_loads[kFlags];  // of lanes, for loads: the same of works that were posted
};

/// What a kernel left behind when it returned; seldom anything, so that all of it is looked at at once.
struct alignas(16) Leftovers {
  uint32_t condition_count;  // the conditions themselves lie in Run::conditions
  int32_t condition_error;
  uint32_t copies;      // not 0: some may be under way
  uint8_t timed;        // not 0: its times are to be written
  uint8_t queued;       // not 0: it has a completion queue
  uint16_t in_cluster;  // not 0: it is a part of a task of a cluster
};
static_assert(sizeof(Leftovers) == 16);

/// What comes from the host: commands, and the bell. One bit for each of them.
struct Landings {
  uint64_t landed[kLandings + 1];  // barriers
  uint32_t pending;                // under way
  uint32_t parities;               // of the phases that come next
};

struct Control {
  BatonCore core;
  const Run* run;
  uint32_t task;
  uint32_t core_number;
  /// Of a failure: as in Failure.
  uint64_t signal;
  /// Buffers that kernels used last: most use the same few again and again.
  Extent last_extents[kLastExtents];
  uint32_t next_extent;  // the one that makes room for another
  LaneQueue lanes;
  BulkCopies copies;
  MatrixUnit matrix;
  int64_t args[PTO_GLOBAL_CONTEXT_INDEX + 1];
  LocalContext local;
  Leftovers left;
  UnitTimes times;  // of the task, if it is timed
  UnitTimes* times_at;
  ClusterPipes* cluster;  // of a task of a cluster; null: it is none
  uint32_t part;
  uint32_t members;
  uint64_t copied;
  GlobalContext global;
  alignas(16) unsigned char closure[kernel::kClosureBytes];
  alignas(128) unsigned char packets[kPacketRoom];
  uint64_t arrived[kBatches];  // barriers: the batch is there
  // Of a core that stays.
  Landings landings;
  Run own_run;  // that of the command
};
static_assert(sizeof(Control) <= kControlBytes && kControlBytes % kPage == 0);

/// All kernels of a GPU program mean the same memory. What the matrix unit reads is aligned to 1,024 bytes.
extern __shared__ __align__(1024) unsigned char baton_shared_memory[];

/// Where that begins: behind what the system has. prepare_core() sees that it does. As a number it is a part of the
/// instructions that read or write there, of which a director has many; the name takes four of its own each time.
inline constexpr uint32_t kControlAt = 1024;

__device__ inline Control& control() { return *static_cast<Control*>(__cvta_shared_to_generic(kControlAt)); }

/// All of it in one go. The compiler would read what is wanted later only then, and the director would wait again:
/// where tensor cores read from shared memory, too, it waits long.
template <typename Record>
PTO_INLINE __device__ Record read_at_once(const Record& from) {
  static_assert(sizeof(Record) % sizeof(uint4) == 0 && alignof(Record) >= sizeof(uint4));
  constexpr uint32_t kParts = sizeof(Record) / sizeof(uint4);
  uint4 parts[kParts];
  const uint32_t at = shared_address(&from);
#pragma unroll
  for (uint32_t i = 0; i < kParts; ++i) {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(parts[i].x), "=r"(parts[i].y), "=r"(parts[i].z), "=r"(parts[i].w)
                 : "r"(at + i * uint32_t{sizeof(uint4)})
                 : "memory");
  }
  Record out;
  memcpy(&out, parts, sizeof out);
  return out;
}
PTO_INLINE __device__ uint32_t read_at_once(const uint32_t& from) {
  uint32_t out;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(out) : "r"(shared_address(&from)) : "memory");
  return out;
}

/// Of a core whose task may keep tiles: how it loads them, and where they lie. Vec has none of these bytes then.
__device__ inline LoadPlan& plan_of_tile(uint32_t tile) {
  return static_cast<LoadPlan*>(__cvta_shared_to_generic(kControlAt + kControlBytes))[tile];
}
__device__ inline uint32_t window_address() { return kControlAt + kControlBytes + kPlansBytes; }
__device__ inline unsigned char* window() {
  return static_cast<unsigned char*>(__cvta_shared_to_generic(window_address()));
}

/// Until it is there.
__device__ inline void wait_for_landing(Control& mine, uint32_t landing) {
  barrier_wait(&mine.landings.landed[landing], mine.landings.parities >> landing & 1);
  mine.landings.parities ^= 1u << landing;
  mine.landings.pending &= ~(1u << landing);
}

/// The same, of which the address is calculated once: the compiler would do so again behind each call of a kernel.
class KeptControl {
 public:
  __device__ KeptControl()
      : shared_(shared_address(baton_shared_memory)), generic_(reinterpret_cast<uint64_t>(baton_shared_memory)) {
    asm volatile("" : "+r"(shared_), "+l"(generic_));
  }
  __device__ Control& operator*() const { return *static_cast<Control*>(__cvta_shared_to_generic(shared_)); }
  __device__ Control* operator->() const { return &**this; }
  /// What kernels are told of bytes that lie `offset` behind its beginning.
  __device__ int64_t address_of(uint32_t offset) const { return static_cast<int64_t>(generic_ + offset); }

 private:
  uint32_t shared_;
  uint64_t generic_;
};

}  // namespace baton::cuda
