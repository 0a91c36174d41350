// What a core of a GPU keeps in shared memory before its Vec buffer.
#pragma once

#include <intrinsic.h>
#include <pto/target/core.hpp>
#include <pto/target/cuda/barrier.hpp>
#include <pto/target/cuda/run.hpp>
#include <pto/target/lane.hpp>

namespace baton::cuda {

/// Packets that are fetched together, and how many of such batches a core has room for.
inline constexpr uint32_t kBatch = 4;
inline constexpr uint32_t kBatches = 3;
inline constexpr uint32_t kClosureBytes = 256;

/// An instruction, or part of one, for a lane.
using LaneWork = void (*)(const void* closure, kernel::Lanes lanes);

struct Control {
  BatonCore core;
  const Run* run;
  uint32_t task;
  uint32_t core_number;
  /// The buffer that a kernel used last.
  Extent last_extent;
  /// What the lanes do next; null: they leave.
  LaneWork work;
  uint64_t begin;  // barrier: there is work
  uint64_t end;    // barrier: all lanes have done it
  uint32_t phase;  // of both
  int64_t args[PTO_GLOBAL_CONTEXT_INDEX + 1];
  LocalContext local;
  GlobalContext global;
  alignas(16) unsigned char closure[kClosureBytes];
  alignas(16) Packet packets[kBatches * kBatch];
  uint64_t arrived[kBatches];  // barriers: the batch is there
};
static_assert(sizeof(Control) <= kControlBytes);

/// All kernels of a GPU program mean the same memory.
extern __shared__ __align__(128) unsigned char baton_shared_memory[];

__device__ inline Control& control() { return *reinterpret_cast<Control*>(baton_shared_memory); }

}  // namespace baton::cuda
