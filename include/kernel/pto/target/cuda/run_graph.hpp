// The life of a core of a GPU during a run of a graph.
#pragma once

#include <baton/kernel_abi.hpp>
#include <pto/target/cuda/async_copy.hpp>
#include <pto/target/cuda/cluster.hpp>
#include <pto/target/cuda/conditions.hpp>
#include <pto/target/cuda/core.hpp>
#include <pto/target/cuda/loader.hpp>
#include <pto/target/cuda/matrix_session.hpp>
#include <pto/target/cuda/matrix_unit.hpp>
#include <pto/target/lanes.hpp>

namespace baton::cuda {

/// Whether the lanes of a core may multiply matrices on the matrix unit: then they have more registers.
enum class Multiplies : uint8_t { on_lanes, on_matrix_unit };

/// What lanes do for begin_session(), in code that is compiled by itself: matrix_session.hpp.
__device__ void run_session(Sums sums, uint32_t lane);
__device__ void run_filled_session(Sums sums, uint32_t lane);

/// A lane does one work after the other until the core leaves.
template <Multiplies kMultiplies>
__device__ __forceinline__ void lane_life() {
  Control& mine = control();
  const kernel::Lanes lanes{threadIdx.x, core_threads() - kWarp};
  // Not one that shares its part of the multiprocessor with the director.
  const bool looks = lanes.lane / kWarp == 1;
  const uint32_t works = shared_address(mine.lanes.works);
  for (uint32_t place = 0;; place = place_of_work(place + 1)) {
    const uint32_t at = works + place * uint32_t{sizeof(PostedWork)};
    // Acquires the work that the director released in post(); releases what the work before wrote.
    await_work(place, lanes.count + kWarp);
    const auto head = *static_cast<const uint4*>(__cvta_shared_to_generic(at));
    if (head.w != 0) {
      // Acquires what loads have brought.
      for (uint32_t load = head.z, left = head.w; looks && left != 0; --left, ++load) {
        barrier_spin(&mine.copies.loaded[load % kLoads], load / kLoads % 2);
      }
      meet_lanes(lanes);
    }
    const uint64_t work = head.x | uint64_t{head.y} << 32;
    if (kMultiplies == Multiplies::on_matrix_unit && work == 0) {
      if (mine.matrix.begins == Begins::at_zero) {
        run_session(mine.matrix.sums.session, lanes.lane);
      } else {
        run_filled_session(mine.matrix.sums.session, lanes.lane);
      }
      continue;
    }
    if (work != kNoWork) {
      reinterpret_cast<LaneWork>(work)(at + uint32_t{offsetof(PostedWork, closure)}, lanes);
    }
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

__device__ inline void prepare_matrix_unit(MatrixUnit& unit) {
  unit.window_bytes = unit.posted = unit.next_map = 0;
  unit.ordered = unit.drained = unit.is_storing = unit.stores_before = 0;
  unit.sums.session = Sums::none;
  unit.kept = 1;  // whatever the memory had
  forget_matrices();
  for (KeptTile& tile : unit.tiles) tile.state.loads = 0;
  for (MapKey& map : unit.maps) map.form = 0;
  const uint32_t warps = core_threads() / kWarp - 1;
  for (uint64_t& ready : unit.ready) barrier_init(&ready, 1);
  for (uint64_t& done : unit.done) barrier_init(&done, warps);
  for (uint64_t& ordered_at : unit.ordered_at) barrier_init(&ordered_at, 1);
  for (uint64_t& issued : unit.issued) barrier_init(&issued, 1);
  for (auto& of_tile : unit.loaded) {
    for (uint64_t& loaded : of_tile) barrier_init(&loaded, 1);
  }
  for (auto& of_warps : unit.read) {
    for (uint32_t& read : of_warps) read = 0;
  }
}

/// Before a run that may have other buffers.
__device__ inline void forget_extents() {
  for (Extent& extent : control().last_extents) extent = Extent{0, 0};
  control().next_extent = 0;
}

__device__ inline void prepare_buffers(const Run& run) {
  for (uint32_t type = 0; type < BATON_CORE_BUFFERS; ++type) {
    const bool is_vec = type == 0;
    unsigned char* base = is_vec ? baton_shared_memory + kControlBytes
                                 : run.cube_buffers + blockIdx.x * run.cube_bytes + run.cube_offsets[type];
    control().core.buffers[type] =
        BatonBuffer{base, is_vec || run.cube_buffers != nullptr ? run.buffer_bytes[type] : 0};
  }
}

__device__ inline void prepare_core(const Run& run) {
  if (shared_address(baton_shared_memory) != kControlAt) __trap();
  Control& mine = control();
  mine.run = &run;
  mine.core_number = blockIdx.x;
  mine.task = ~0u;
  mine.signal = 0;
  forget_extents();
  for (uint32_t i = 0; i < kBatches; ++i) barrier_init(&mine.arrived[i], 1);
  mine.copies = {};
  mine.left = {};
  mine.cluster = nullptr;
  prepare_matrix_unit(mine.matrix);
  for (uint32_t i = 0; i < kLoads; ++i) barrier_init(&mine.copies.loaded[i], 1);
  prepare_lanes(mine.lanes);
  mine.landings = {};
  for (uint32_t i = 0; i <= kLandings; ++i) barrier_init(&mine.landings.landed[i], 1);
  // Barriers are there before copies arrive at them.
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  mine.core.version = BATON_CORE_VERSION;
  mine.core.watches = 0;
  mine.core.table = nullptr;  // its functions need none
  prepare_buffers(run);
  prepare_conditions(run);
  mine.global = GlobalContext{0, {kOneSession, kOneSession}};
  mine.args[PTO_LOCAL_CONTEXT_INDEX] = reinterpret_cast<int64_t>(&mine.local);
  mine.args[PTO_GLOBAL_CONTEXT_INDEX] = reinterpret_cast<int64_t>(&mine.global);
}

__device__ inline void wait_for_predecessors(const Run& run, const PacketHead& head) {
  const uint32_t* arrivals = run.arrivals + uint64_t{head.counter} * kArrivalStride;
  const uint32_t needed = head.needed;
  const uint32_t target = needed * run.number;
  const auto missing = [&] {
    // Pairs with the release in complete(). Arrivals only grow, and wrap round.
    return static_cast<int32_t>(
        target - __nv_atomic_load_n(const_cast<uint32_t*>(arrivals), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE));
  };
  wait_until([&] { return missing() <= 0; },
             [&](uint64_t waited_ns) {
               if (run.run_limit_ns == 0 || waited_ns <= run.run_limit_ns) return;
               kernel::fail(BatonPlace{"", "", 0, 0}, BATON_KERNEL_WAIT_TIMEOUT, "waited ", waited_ns / 1000000,
                            " ms for ", missing(), " of ", needed, " blocks of tasks before it");
             });
}

/// With more counters than this the lanes arrive at them: one thread takes longer than they need to be woken.
inline constexpr uint32_t kToldByDirector = 8;

__device__ inline void complete(const Run& run, const Packet& packet, uint32_t count) {
  const uint32_t* told = count <= kInlineTold ? packet.inline_told : packet.told;
  uint32_t* arrivals = run.arrivals;
  const auto arrive = [=](uint32_t i) {
    __nv_atomic_fetch_add(arrivals + uint64_t{told[i]} * kArrivalStride, 1u, __NV_ATOMIC_RELAXED,
                          __NV_THREAD_SCOPE_DEVICE);
  };
  // Releases what this core wrote, lanes and finished copies included; pairs with wait_for_predecessors().
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  if (count <= kToldByDirector) {
    for (uint32_t i = 0; i < count; ++i) arrive(i);
  } else {
    kernel::on_lanes([=](kernel::Lanes lanes) {
      for (uint32_t i = lanes.lane; i < count; i += lanes.count) arrive(i);
    });
  }
}

/// Waits for the counter of a task, if it has one. Returns whether its kernel is to be called.
__device__ inline bool await_condition(uint32_t flags, const Condition& condition) {
  if ((flags & kHasCounter) != 0) {
    wait_for_signal(BatonPlace{"", "", 0, 0}, reinterpret_cast<const int32_t*>(condition.address), kAtLeast,
                    condition.value);
    control().copies.memory_changed = 1;
  }
  return (flags & kHasPredicate) == 0 || compares(integer_at(condition), condition.comparison, condition.value);
}

/// Waits until the task may begin. Returns whether its kernel is to be called.
__device__ inline bool await_task(const Run& run, const Packet& packet, const PacketHead& head) {
  if (head.needed != 0) wait_for_predecessors(run, head);
  const bool runs = await_condition(head.flags, packet.condition);
  if ((head.flags & kHasQueue) != 0) control().args[head.slot_count - 1] = begin_queue();
  if ((head.flags & kIsOfCluster) != 0) join_cluster(control(), run, head.flags);
  if ((head.flags & kIsTimed) != 0) begin_times(control(), run.times + head.unit, runs && head.entry != 0);
  return runs;
}

/// After a kernel that has left conditions, is a part of a task of a cluster, or whose times are wanted.
__device__ __attribute__((noinline)) inline void end_kernel(const Leftovers& left) {
  Control& mine = control();
  if (left.in_cluster != 0) leave_cluster(mine);
  if (left.timed != 0) mine.times.returned = mine.times.complete = now_ns();
  if (left.queued != 0) take_queue();
  if ((mine.left.condition_count | static_cast<uint32_t>(left.condition_error)) == 0) return;
  mine.times.complete = 0;
  await_conditions();
  if (left.timed != 0) mine.times.complete = now_ns();
}

/// The packet at `place` of the core's packets. `copying`: whether kernels before it left copies under way; returns the
/// same for the next one.
__device__ inline bool run_packet(const Run& run, const KeptControl& mine, uint32_t place, bool copying,
                                  uint32_t changed) {
  const Packet& packet = *reinterpret_cast<const Packet*>(mine->packets + place);
  const PacketHead head = packet.head;
  mine->task = head.task;
  // Those before it may have written to memory; what others did there is none of its business.
  mine->copies.memory_changed = (head.flags & kIsAfter) | changed;
  if (run.window_bytes != 0) prepare_matrices(run, (head.flags & kIsCube) != 0);
  mine->local.block_idx = static_cast<int32_t>(head.block_index);
  mine->local.block_num = static_cast<int32_t>(head.block_count);
  const uint32_t tensors = offsetof(Control, packets) + place + uint32_t{sizeof(Packet)};
#pragma unroll 1
  for (uint32_t i = 0; i < head.tensor_count; ++i) mine->args[i] = mine.address_of(tensors + i * kTensorBytes);
  if (head.slot_count <= kInlineSlots) {
#pragma unroll 1
    for (uint32_t i = head.tensor_count; i < head.slot_count; ++i) mine->args[i] = packet.inline_slots[i];
  } else {
    for (uint32_t i = head.tensor_count; i < head.slot_count; ++i) mine->args[i] = packet.slots[i];
  }
  // What it depends on may be a task of this core, of which nobody else tells.
  if (copying && (head.flags & kIsAfter) != 0) finish_stores();
  bool runs = head.entry != 0;
  if ((head.needed | (head.flags & (kHasCounter | kHasPredicate | kIsTimed | kIsOfCluster | kHasQueue))) != 0)
    runs = await_task(run, packet, head) && runs;
  if (runs) {
    if constexpr (kStrictPipes) begin_judging((head.flags & kIsCube) != 0);
    reinterpret_cast<void (*)(int64_t*)>(head.entry)(
        reinterpret_cast<int64_t*>(mine.address_of(offsetof(Control, args))));
    if constexpr (kStrictPipes) end_judging();
  }
  const Leftovers left = mine->left;
  if ((left.condition_count | static_cast<uint32_t>(left.condition_error) | left.timed | left.queued |
       left.in_cluster) != 0) {
    end_kernel(left);
  }
  // Conditions may be those of copies.
  // Loads that are wanted are copies.
  const bool copied = (left.copies | (mine->lanes.counts.posted ^ mine->lanes.counts.settled)) != 0;
  if (left.copies != 0 && run.window_bytes != 0) forget_matrices();
  if (copied && head.told_count != 0) finish_stores();
  if (head.told_count != 0) complete(run, packet, head.told_count);
  if (copied || left.timed != 0) {
    if (left.timed != 0) write_times(*mine);
    if (copied) release_buffers();
  }
  return copied;
}

inline constexpr uint32_t kPacketsBetweenLooks = 64;

/// The packets of a core, as it reads them.
struct PacketReader {
  const unsigned char* packets;
  uint32_t count;
  uint32_t each;           // bytes
  uint32_t batch_packets;  // that are fetched at once
  uint32_t parities;       // of the phases of the barriers that come next, one bit for each batch

  __device__ bool fits() const { return count <= kBatches * batch_packets; }
  /// Several at once: to start a copy takes as long as to run an empty task.
  __device__ void fetch(const KeptControl& mine, uint32_t at, uint32_t batch) const {
    const uint32_t bytes = (count - at < batch_packets ? count - at : batch_packets) * each;
    barrier_expect(&mine->arrived[batch], bytes);
    copy_to_shared(mine->packets + batch * batch_packets * each, packets + uint64_t{at} * each, bytes,
                   &mine->arrived[batch]);
  }
};

/// Reads the packets of its core, some of them ahead. `here`: all of them are in its memory. `changed`: as
/// BulkCopies::memory_changed, for all of them.
__device__ inline void run_packets(const Run& run, const KeptControl& mine, PacketReader& reader, bool here,
                                   uint32_t changed) {
  const uint32_t count = reader.count;
  const uint32_t batch_packets = reader.batch_packets;
  for (uint32_t batch = 0; !here && batch < kBatches && batch * batch_packets < count; ++batch) {
    reader.fetch(mine, batch * batch_packets, batch);
  }
  bool copying = false;
  uint32_t batch = 0;
  uint32_t until_look = kPacketsBetweenLooks;
  for (uint32_t at = 0; at < count; at += batch_packets) {
    if (!here) {
      barrier_wait(&mine->arrived[batch], reader.parities >> batch & 1);
      reader.parities ^= 1u << batch;
    }
    // A look takes as long as a few tasks; a waiter looks anyway.
    if (at >= until_look) {
      if (stopped()) leave();
      until_look = at + kPacketsBetweenLooks;
    }
    const uint32_t in_batch = count - at < batch_packets ? count - at : batch_packets;
    uint32_t place = batch * batch_packets * reader.each;
#pragma unroll 1
    for (uint32_t i = 0; i < in_batch; ++i, place += reader.each)
      copying = run_packet(run, mine, place, copying, changed);
    const uint32_t ahead = at + kBatches * batch_packets;
    if (ahead < count) reader.fetch(mine, ahead, batch);
    if (++batch == kBatches) batch = 0;
  }
}

/// The part of a core in a graph.
__device__ inline PacketReader reader_of(const Run& run) {
  const uint32_t first = run.first_packet[blockIdx.x];
  return {.packets = run.packets + uint64_t{first} * run.packet_bytes,
          .count = run.first_packet[blockIdx.x + 1] - first,
          .each = run.packet_bytes,
          .batch_packets = run.batch_packets,
          .parities = 0};
}

__device__ inline void direct(const Run& run) {
  const KeptControl mine;
  PacketReader reader = reader_of(run);
  run_packets(run, mine, reader, false, 0);
  leave();
}

/// A template, so that a program made of several files of kernels has it once; with strict pipes it is another one.
template <Multiplies kMultiplies>
__device__ __forceinline__ void run_core(const Run& run) {
  const uint32_t director = core_threads() - kWarp;
  if (threadIdx.x == director) prepare_core(run);
  __syncthreads();
  if (threadIdx.x < director) {
    lane_life<kMultiplies>();
  } else if (threadIdx.x == director) {
    direct(run);
  } else if (kMultiplies == Multiplies::on_matrix_unit && threadIdx.x >= kMostThreads) {
    loader_life((threadIdx.x - kMostThreads) / kWarp, threadIdx.x % kWarp);
  }
}

template <int>
__global__ void __launch_bounds__(kRegistersOfMultiprocessor / kRegistersOfThread, 1)
    run_graph(const __grid_constant__ Run run) {
  run_core<Multiplies::on_lanes>(run);
}
template __global__ void run_graph<kStrictPipes ? 1 : 0>(const __grid_constant__ Run run);

#if defined(__DAV_CUBE__)
/// The same with the matrix unit: one core on each multiprocessor.
template <int>
__global__ void __launch_bounds__(kMostMatrixThreads, 1) run_matrix_graph(const __grid_constant__ Run run) {
  run_core<Multiplies::on_matrix_unit>(run);
}
template __global__ void run_matrix_graph<kStrictPipes ? 1 : 0>(const __grid_constant__ Run run);
#endif

}  // namespace baton::cuda
