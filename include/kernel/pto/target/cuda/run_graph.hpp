// The life of a core of a GPU during a run of a graph.
#pragma once

#include <baton/kernel_abi.hpp>
#include <pto/target/cuda/async_copy.hpp>
#include <pto/target/cuda/conditions.hpp>
#include <pto/target/cuda/core.hpp>
#include <pto/target/lanes.hpp>

namespace baton::cuda {

/// A lane works until the core leaves.
__device__ inline void lane_life() {
  Control& mine = control();
  const kernel::Lanes lanes{threadIdx.x - kWarp, blockDim.x - kWarp};
  while (true) {
    // Acquires the work that on_lanes() released.
    meet_warps();
    const LaneWork work = mine.work;
    if (work == nullptr) return;
    work(mine.closure, lanes);
    // Releases what the lanes wrote to the director, in on_lanes().
    meet_warps();
  }
}

__device__ inline int64_t integer_at(const Condition& condition) {
  const uint64_t at = condition.address;
  switch (condition.type) {
    case BATON_TYPE_INT64:
    case BATON_TYPE_UINT64: return *reinterpret_cast<const volatile int64_t*>(at);
    case BATON_TYPE_INT16: return *reinterpret_cast<const volatile int16_t*>(at);
    case BATON_TYPE_UINT16: return *reinterpret_cast<const volatile uint16_t*>(at);
    case BATON_TYPE_INT8: return *reinterpret_cast<const volatile int8_t*>(at);
    case BATON_TYPE_UINT8:
    case BATON_TYPE_BOOL: return *reinterpret_cast<const volatile uint8_t*>(at);
    case BATON_TYPE_UINT32: return *reinterpret_cast<const volatile uint32_t*>(at);
    default: return *reinterpret_cast<const volatile int32_t*>(at);
  }
}

__device__ inline void prepare_core(const Run& run) {
  Control& mine = control();
  mine.run = &run;
  mine.core_number = blockIdx.x;
  mine.task = ~0u;
  mine.signal = 0;
  for (Extent& extent : mine.last_extents) extent = Extent{0, 0};
  mine.next_extent = 0;
  for (uint32_t i = 0; i < kBatches; ++i) barrier_init(&mine.arrived[i], 1);
  mine.copies = {};
  for (uint32_t i = 0; i < kLoads; ++i) barrier_init(&mine.copies.loaded[i], 1);
  // Barriers are there before copies arrive at them.
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  mine.core.version = BATON_CORE_VERSION;
  mine.core.watches = 0;
  mine.core.table = nullptr;  // its functions need none
  for (uint32_t type = 0; type < BATON_CORE_BUFFERS; ++type) {
    const bool is_vec = type == 0;
    unsigned char* base = is_vec ? baton_shared_memory + kControlBytes
                                 : run.cube_buffers + blockIdx.x * run.cube_bytes + run.cube_offsets[type];
    mine.core.buffers[type] = BatonBuffer{base, is_vec || run.cube_buffers != nullptr ? run.buffer_bytes[type] : 0};
  }
  prepare_conditions(run);
  mine.global = GlobalContext{0, {kOneSession, kOneSession}};
  mine.args[PTO_LOCAL_CONTEXT_INDEX] = reinterpret_cast<int64_t>(&mine.local);
  mine.args[PTO_GLOBAL_CONTEXT_INDEX] = reinterpret_cast<int64_t>(&mine.global);
}

__device__ inline void wait_for_predecessors(const Run& run, const Packet& packet) {
  const uint32_t* arrivals = run.arrivals + uint64_t{packet.task} * kArrivalStride;
  const uint32_t target = packet.needed * run.number;
  const auto missing = [&] {
    // Pairs with the release in complete(). Arrivals only grow, and wrap round.
    return static_cast<int32_t>(
        target - __nv_atomic_load_n(const_cast<uint32_t*>(arrivals), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE));
  };
  wait_until([&] { return missing() <= 0; },
             [&](uint64_t waited_ns) {
               if (run.run_limit_ns == 0 || waited_ns <= run.run_limit_ns) return;
               kernel::fail(BatonPlace{"", "", 0, 0}, BATON_KERNEL_WAIT_TIMEOUT, "waited ", waited_ns / 1000000,
                            " ms for ", missing(), " of ", packet.needed, " blocks of tasks before it");
             });
}

/// With more successors than this the lanes count them: one thread takes longer than they need to be woken.
inline constexpr uint32_t kSuccessorsOfDirector = 8;

__device__ inline void complete(const Run& run, const Packet& packet) {
  const uint32_t count = packet.successor_count;
  if (count == 0) return;
  const uint32_t* successors = count <= kInlineSuccessors ? packet.inline_successors : packet.successors;
  uint32_t* arrivals = run.arrivals;
  const auto arrive = [=](uint32_t i) {
    __nv_atomic_fetch_add(arrivals + uint64_t{successors[i]} * kArrivalStride, 1u, __NV_ATOMIC_RELAXED,
                          __NV_THREAD_SCOPE_DEVICE);
  };
  // Releases what this core wrote, lanes and finished copies included; pairs with wait_for_predecessors().
  __threadfence();
  if (count <= kSuccessorsOfDirector) {
    for (uint32_t i = 0; i < count; ++i) arrive(i);
  } else {
    kernel::on_lanes([=](kernel::Lanes lanes) {
      for (uint32_t i = lanes.lane; i < count; i += lanes.count) arrive(i);
    });
  }
}

/// `copying`: whether kernels before it left copies under way. Returns the same for the next one.
__device__ inline bool run_packet(const Run& run, const Packet& packet, const unsigned char* tensors, bool copying) {
  Control& mine = control();
  mine.task = packet.task;
  // Those before it may have written to memory; what others did there is none of its business.
  mine.copies.memory_changed = packet.flags & kIsAfter;
  const int64_t* slots = packet.slot_count <= kInlineSlots ? packet.inline_slots : packet.slots;
  const uint32_t tensor_count = packet.tensor_count;
  for (uint32_t i = 0; i < tensor_count; ++i) mine.args[i] = reinterpret_cast<int64_t>(tensors + i * kTensorBytes);
  for (uint32_t i = tensor_count; i < packet.slot_count; ++i) mine.args[i] = slots[i];
  mine.local.block_idx = static_cast<int32_t>(packet.block_index);
  mine.local.block_num = static_cast<int32_t>(packet.block_count);
  // What it depends on may be a task of this core, of which nobody else tells.
  if (copying && (packet.flags & kIsAfter) != 0) finish_stores();
  if (packet.needed != 0) wait_for_predecessors(run, packet);
  if ((packet.flags & kHasCounter) != 0) {
    wait_for_signal(BatonPlace{"", "", 0, 0}, reinterpret_cast<const int32_t*>(packet.condition.address), kAtLeast,
                    packet.condition.value);
    mine.copies.memory_changed = 1;
  }
  const bool runs = (packet.flags & kHasPredicate) == 0 ||
                    compares(integer_at(packet.condition), packet.condition.comparison, packet.condition.value);
  if (packet.entry != 0 && runs) reinterpret_cast<void (*)(int64_t*)>(packet.entry)(mine.args);
  // Both at once: a look at shared memory is a tenth of an empty task.
  static_assert(offsetof(Control, condition_error) == offsetof(Control, condition_count) + sizeof(uint32_t));
  if (*reinterpret_cast<const volatile uint64_t*>(&mine.condition_count) != 0) await_conditions();
  const bool copied = mine.copies.any != 0;
  if (copied && packet.successor_count != 0) finish_stores();
  complete(run, packet);
  if (copied) release_buffers();
  return copied;
}

inline constexpr uint32_t kPacketsBetweenLooks = 64;

/// Reads the packets of its core, some of them ahead.
__device__ inline void direct(const Run& run) {
  Control& mine = control();
  const uint32_t first = run.first_packet[blockIdx.x];
  const uint32_t count = run.first_packet[blockIdx.x + 1] - first;
  const uint32_t tensor_bytes = run.packet_tensors * kTensorBytes;
  // Several at once: to start a copy takes as long as to run an empty task.
  const auto fetch = [&](uint32_t at) {
    const uint32_t batch = at / kBatch % kBatches;
    const uint32_t packets = count - at < kBatch ? count - at : kBatch;
    const uint32_t tensors = packets * tensor_bytes;
    barrier_expect(&mine.arrived[batch], packets * sizeof(Packet) + tensors);
    copy_to_shared(&mine.packets[batch * kBatch], run.packets + first + at, packets * sizeof(Packet),
                   &mine.arrived[batch]);
    if (tensors == 0) return;
    copy_to_shared(mine.tensors + batch * kBatch * tensor_bytes, run.tensors + uint64_t{first + at} * tensor_bytes,
                   tensors, &mine.arrived[batch]);
  };
  bool copying = false;
  for (uint32_t at = 0; at < count && at < kBatches * kBatch; at += kBatch) fetch(at);
  for (uint32_t at = 0; at < count; at += kBatch) {
    const uint32_t batch = at / kBatch % kBatches;
    barrier_wait(&mine.arrived[batch], at / (kBatch * kBatches) % 2);
    // A look takes as long as a few tasks; whoever waits looks anyway.
    if (at % kPacketsBetweenLooks == 0 && stopped()) leave();
    for (uint32_t i = at; i < count && i < at + kBatch; ++i) {
      const uint32_t place = batch * kBatch + i - at;
      copying = run_packet(run, mine.packets[place], mine.tensors + place * tensor_bytes, copying);
    }
    if (at + kBatches * kBatch < count) fetch(at + kBatches * kBatch);
  }
  leave();
}

/// A template, so that a program made of several files of kernels has it once.
template <int>
__global__ void __launch_bounds__(kRegistersOfMultiprocessor / kRegistersOfThread, 1)
    run_graph(const __grid_constant__ Run run) {
  if (threadIdx.x == 0) prepare_core(run);
  __syncthreads();
  if (threadIdx.x >= kWarp) {
    lane_life();
  } else if (threadIdx.x == 0) {
    direct(run);
  }
}
template __global__ void run_graph<0>(const __grid_constant__ Run run);

}  // namespace baton::cuda
