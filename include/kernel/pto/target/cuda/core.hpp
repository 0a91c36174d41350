// What a core of a GPU does for instructions: BatonCoreTable, whose functions are known when a kernel is compiled.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/order.hpp>
#include <pto/target/cuda/bulk_copy.hpp>
#include <pto/target/cuda/control.hpp>
#include <pto/target/cuda/matrix_commands.hpp>
#include <pto/target/cuda/strict.hpp>
#include <pto/target/cuda/timing.hpp>

namespace baton::cuda {

/// Of the GPU, which takes half the time, unless kernels of others take part.
__device__ inline bool spans_gpus() { return control().run->spans_gpus != 0; }

/// Pairs with notify(): a reader of its value sees what came before it.
template <typename Word>
__device__ Word load_acquire_gpu(const Word* address) {
  Word* const word = const_cast<Word*>(address);
  if (spans_gpus()) return __nv_atomic_load_n(word, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
  return __nv_atomic_load_n(word, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
}

__device__ inline bool compares(int64_t has, uint32_t comparison, int64_t value) {
  switch (comparison) {
    case 0: return has == value;
    case 1: return has != value;
    case 2: return has > value;
    case 3: return has >= value;
    case 4: return has < value;
    default: return has <= value;
  }
}

__device__ inline void copy_text(char* to, const char* from, uint32_t room) {
  uint32_t i = 0;
  for (; i + 1 < room && from != nullptr && from[i] != '\0'; ++i) to[i] = from[i];
  to[i] = '\0';
}

__device__ inline bool stopped() {
  return __nv_atomic_load_n(control().run->stop, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) != 0;
}

/// The last work of a lane.
__device__ inline void leave_on_lane(uint32_t /*closure*/, kernel::Lanes /*lanes*/) {
  asm volatile("exit;");
  __builtin_unreachable();
}

/// The core is done: its lanes leave, and then the director. Nobody may copy from or to its memory any more.
__device__ [[noreturn]] inline void leave() {
  Control& mine = control();
  kernel::finish_copies();
  if (mine.matrix.sums.session != Sums::none) end_session(Registers::forgotten);
  for (uint32_t landing = 0; landing <= kLandings; ++landing) {
    if ((mine.landings.pending >> landing & 1) != 0) wait_for_landing(mine, landing);
  }
  if (mine.left.timed != 0) write_times(mine);  // of what did not end
  if (mine.run->window_bytes != 0) send_loaders_away();
  post(&leave_on_lane, NoClosure{});
  asm volatile("exit;");
  __builtin_unreachable();
}

/// Ends the run. The first failure of a run is the one that is reported.
__device__ [[noreturn]] __attribute__((noinline, cold)) inline void end_run(const BatonFailure& failure) {
  Control& mine = control();
  const Run& run = *mine.run;
  if (atomicCAS(run.stop, 0, 1) == 0) {
    Failure& report = *run.failure;
    report.code = failure.code;
    report.task = mine.task;
    report.core = mine.core_number;
    report.line = failure.place == nullptr ? 0 : failure.place->line;
    report.signal = mine.signal;
    copy_text(report.instruction, failure.place == nullptr ? nullptr : failure.place->instruction,
              sizeof report.instruction);
    copy_text(report.file, failure.place == nullptr ? nullptr : failure.place->file, sizeof report.file);
    copy_text(report.text, failure.text, sizeof report.text);
    __threadfence_system();
    report.is_set = 1;
    __threadfence_system();
  }
  // A lane cannot tell the director to leave: nothing but the end of the program is left.
  if (threadIdx.x < core_threads() - kWarp) __trap();
  leave();
}

__device__ [[noreturn]] inline void fail_at(const BatonPlace* place, BatonKernelError code, const char* text) {
  end_run(BatonFailure{code, 0, place, text});
}

/// Waits until `holds()`. When the run has ended elsewhere, the core leaves; `look(ns)`, told how long it has waited,
/// may end it here.
template <typename Holds, typename Look>
__device__ void wait_until(Holds holds, Look look) {
  if (holds()) return;
  const uint64_t start = now_ns();
  while (true) {
    for (int i = 0; i < 64; ++i) {
      if (holds()) return;
    }
    if (stopped()) leave();
    look(now_ns() - start);
  }
}

inline constexpr uint32_t kAtLeast = 3;  // of the comparisons above: pto::comm::WaitCmp::GE

/// Waits for a signal until its limit, or until nobody may be left who changes it.
__device__ inline void wait_for_signal(const BatonPlace& place, const int32_t* signal, uint32_t comparison,
                                       int64_t value) {
  // Pairs with notify().
  const auto holds = [&] { return compares(load_acquire_gpu(signal), comparison, value); };
  wait_until(holds, [&](uint64_t waited_ns) {
    const Run& run = *control().run;
    const bool lost = __nv_atomic_load_n(run.lost, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM) != 0;
    if (!lost && waited_ns <= run.wait_limit_ns) return;
    if (holds()) return;
    control().signal = reinterpret_cast<uint64_t>(signal);
    const int32_t has = load_acquire_gpu(signal);
    if (lost) {
      kernel::fail(place, BATON_KERNEL_PEER_DIED, "waited for the signal at address ", control().signal, " (has ", has,
                   ", needs ", value, "), but a peer died");
    }
    kernel::fail(place, BATON_KERNEL_WAIT_TIMEOUT, "waited ", waited_ns / 1000000, " ms for the signal at address ",
                 control().signal, " (has ", has, ", needs ", value, ")");
  });
}

__device__ inline bool extent_holds(const Extent& extent, uint64_t begin, uint64_t bytes) {
  return bytes <= extent.bytes && begin - extent.begin <= extent.bytes - bytes;
}

/// Searches all buffers of the run, and remembers what it finds.
PTO_OUTLINED __device__ inline bool find_extent(uint64_t at, uint64_t bytes) {
  Control& mine = control();
  const Run& run = *mine.run;
  // The last buffer that begins at or before the address.
  uint32_t low = 0;
  uint32_t high = run.extent_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (run.extents[middle].begin <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0 || !extent_holds(run.extents[low - 1], at, bytes)) return false;
  mine.last_extents[mine.next_extent++ % kLastExtents] = run.extents[low - 1];
  return true;
}

}  // namespace baton::cuda

__device__ inline void BatonCoreTable::fail(BatonCore*, const BatonFailure* failure) { baton::cuda::end_run(*failure); }

__device__ inline int32_t BatonCoreTable::address_known(BatonCore*, const void* begin, uint64_t bytes, char* nearest,
                                                        uint64_t nearest_bytes) {
  baton::cuda::Control& mine = baton::cuda::control();
  const auto at = reinterpret_cast<uint64_t>(begin);
#pragma unroll 1
  for (const baton::cuda::Extent& extent : mine.last_extents) {
    if (baton::cuda::extent_holds(extent, at, bytes)) return 1;
  }
  if (baton::cuda::find_extent(at, bytes)) return 1;
  if (nearest_bytes != 0) nearest[0] = '\0';  // the host knows the names of buffers
  return 0;
}

// Instructions run in their order here, whatever the pipe, but for bulk copies: their flags count.
__device__ inline void BatonCoreTable::issue(BatonCore*, const BatonIssue* issue) {
  if constexpr (baton::cuda::kStrictPipes) baton::cuda::judge_issue(*issue);
}
__device__ inline void BatonCoreTable::set_flag(BatonCore*, uint32_t producer, uint32_t consumer, int32_t id,
                                                const BatonPlace* place) {
  if constexpr (baton::cuda::kStrictPipes) baton::cuda::judge_set_flag(producer, consumer, id, *place);
  baton::cuda::set_copy_flag(producer, consumer, id);
}
__device__ inline void BatonCoreTable::wait_flag(BatonCore*, uint32_t producer, uint32_t consumer, int32_t id,
                                                 const BatonPlace* place) {
  if constexpr (baton::cuda::kStrictPipes) baton::cuda::judge_wait_flag(producer, consumer, id, *place);
  baton::cuda::wait_copy_flag(producer, consumer, id);
}
__device__ inline void BatonCoreTable::pipe_barrier(BatonCore*, uint32_t pipe, const BatonPlace*) {
  if (pipe != PIPE_ALL) return;
  baton::kernel::finish_copies();
  if constexpr (baton::cuda::kStrictPipes) baton::cuda::judge_barrier();
}

// A kernel that polls memory calls them in its loop: what it read may be old, and the run may be over.
__device__ inline void BatonCoreTable::cache_line(BatonCore*, const volatile void*, int32_t, int32_t) {
  baton::cuda::finish_stores();
  if (baton::cuda::spans_gpus()) {
    __threadfence_system();
  } else {
    __threadfence();
  }
  baton::cuda::control().copies.memory_changed = 1;
  if (baton::cuda::stopped()) baton::cuda::leave();
}
__device__ inline void BatonCoreTable::memory_barrier(BatonCore*, int32_t) {
  baton::cuda::finish_stores();
  __threadfence_system();
  baton::cuda::control().copies.memory_changed = 1;
}
__device__ inline void BatonCoreTable::yield(BatonCore*) {
  if (baton::cuda::stopped()) baton::cuda::leave();
}

__device__ inline void BatonCoreTable::notify(BatonCore*, int32_t* signal, int32_t value, uint32_t op,
                                              const BatonPlace* place) {
  if constexpr (baton::cuda::kStrictPipes) baton::cuda::judge_notify(signal, *place);
  baton::cuda::finish_stores();
  // Releases; pairs with load_acquire_gpu() in test() and wait().
  if (baton::cuda::spans_gpus()) {
    if (op == 0) {
      __nv_atomic_fetch_add(signal, value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
    } else {
      __nv_atomic_store_n(signal, value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
    }
  } else if (op == 0) {
    __nv_atomic_fetch_add(signal, value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    __nv_atomic_store_n(signal, value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  }
}
__device__ inline int32_t BatonCoreTable::test(BatonCore*, const int32_t* signal, int32_t value, uint32_t comparison,
                                               const BatonPlace*) {
  baton::cuda::control().copies.memory_changed = 1;
  return baton::cuda::compares(baton::cuda::load_acquire_gpu(signal), comparison, value) ? 1 : 0;
}
__device__ inline void BatonCoreTable::wait(BatonCore*, const int32_t* signal, int32_t value, uint32_t comparison,
                                            const BatonPlace* place) {
  baton::cuda::control().copies.memory_changed = 1;
  baton::cuda::wait_for_signal(*place, signal, comparison, value);
}

namespace baton::cuda {

/// The ring of that pipe and way, which may be a new one.
__device__ inline ClusterRing& ring_of(const BatonPipeSlot& slot, const BatonPlace& place) {
  Control& mine = control();
  if (mine.cluster == nullptr) {
    kernel::fail(place, BATON_KERNEL_INVALID_ARGUMENT, "a pipe between cores, in a task that is none of a cluster");
  }
  const uint32_t name = 2 * slot.pipe + slot.way + 1;
  for (ClusterRing& ring : mine.cluster->rings) {
    const uint32_t before = atomicCAS(&ring.name, 0u, name);
    if (before == 0 || before == name) return ring;
  }
  kernel::fail(place, BATON_KERNEL_INVALID_ARGUMENT, "a cluster has more than ", kClusterRings, " pipes");
}

__device__ inline bool writes_slots(uint32_t part, uint32_t way) { return (part == kCubePart) == (way == 0); }

/// Until another core of the cluster has had this many slots.
__device__ inline void await_part(const BatonPlace& place, const BatonPipeSlot& slot, ClusterRing& ring, uint32_t other,
                                  uint32_t needed) {
  // Pairs with pipe_release().
  const auto count = [&] {
    return __nv_atomic_load_n(&ring.counts[other], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  };
  const auto holds = [&] { return static_cast<int32_t>(count() - needed) >= 0; };
  wait_until(holds, [&](uint64_t waited_ns) {
    const uint32_t ended =
        __nv_atomic_load_n(&control().cluster->ended[other], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    if (holds()) return;
    const char* const core = other == kCubePart ? "the cube core" : other == 1 ? "vector core 0" : "vector core 1";
    if (ended != 0) {
      kernel::fail(place, BATON_KERNEL_INVALID_ARGUMENT, core, " has returned, with ", count(), " slots of pipe ",
                   slot.pipe, "; slot ", slot.index, " needs ", needed);
    }
    if (waited_ns <= control().run->wait_limit_ns) return;
    kernel::fail(place, BATON_KERNEL_WAIT_TIMEOUT, "waited ", waited_ns / 1000000, " ms for ", core, ", which has had ",
                 count(), " slots of pipe ", slot.pipe, "; slot ", slot.index, " needs ", needed);
  });
}

}  // namespace baton::cuda

__device__ inline int32_t BatonCoreTable::pipe_acquire(BatonCore*, const BatonPipeSlot* slot, const BatonPlace* place) {
  using namespace baton::cuda;
  ClusterRing& ring = ring_of(*slot, *place);
  const Control& mine = control();
  const bool writes = writes_slots(mine.part, slot->way);
  const auto next = static_cast<uint32_t>(slot->index) + 1;
  // A slot may be written when all have read what was in it before, and read when all have written it.
  const uint32_t needed = !writes ? next : slot->index < slot->slots ? 0 : next - slot->slots;
  uint32_t others = 0;
  for (uint32_t other = 0; other < kClusterParts; ++other) {
    if ((mine.members >> other & 1) == 0 || writes_slots(other, slot->way) == writes) continue;
    ++others;
    await_part(*place, *slot, ring, other, needed);
  }
  if (others == 0) {
    baton::kernel::fail(*place, BATON_KERNEL_INVALID_ARGUMENT, "the task has no kernel on the other side of pipe ",
                        slot->pipe);
  }
  control().copies.memory_changed = 1;
  return mine.part == kCubePart ? 0 : static_cast<int32_t>(mine.part - 1);
}
__device__ inline void BatonCoreTable::pipe_release(BatonCore*, const BatonPipeSlot* slot, const BatonPlace* place) {
  using namespace baton::cuda;
  ClusterRing& ring = ring_of(*slot, *place);
  // What was written is there, and what is to be written again was read.
  baton::kernel::finish_copies();
  // Pairs with await_part().
  __nv_atomic_store_n(&ring.counts[control().part], static_cast<uint32_t>(slot->index) + 1, __NV_ATOMIC_RELEASE,
                      __NV_THREAD_SCOPE_DEVICE);
}
__device__ inline const BatonBuffer* BatonCoreTable::pipe_peer(BatonCore*, uint32_t, uint32_t,
                                                               const BatonPlace* place) {
  baton::cuda::fail_at(place, BATON_KERNEL_UNSUPPORTED,
                       "platform cuda has pipes through global memory: give this one a ring there");
}

// The driver shows what was printed when the run is over.
__device__ inline void BatonCoreTable::print(BatonCore*, uint32_t, const char* text, uint64_t bytes) {
  char piece[65];
  for (uint64_t done = 0; done < bytes;) {
    uint32_t count = 0;
    while (count + 1 < sizeof piece && done < bytes) piece[count++] = text[done++];
    piece[count] = '\0';
    printf("%s", piece);
  }
}
__device__ inline void BatonCoreTable::dump(BatonCore*, const BatonDump*, const BatonPlace* place) {
  baton::cuda::fail_at(place, BATON_KERNEL_UNSUPPORTED, "platform cuda cannot write files yet");
}

extern "C" __device__ inline BatonCore* baton_core_current() { return &baton::cuda::control().core; }
