// What a core of a GPU does for instructions: BatonCoreTable, whose functions are known when a kernel is compiled.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/order.hpp>
#include <pto/target/cuda/bulk_copy.hpp>
#include <pto/target/cuda/control.hpp>

namespace baton::cuda {

__device__ inline uint64_t now_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Pairs with release_add() and notify(): whoever sees their values sees what came before them.
template <typename Word>
__device__ Word load_acquire_gpu(const Word* address) {
  return __nv_atomic_load_n(const_cast<Word*>(address), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
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

/// The core is done: its lanes leave, and then the director. Nobody may copy from or to its memory any more.
__device__ [[noreturn]] inline void leave() {
  Control& mine = control();
  kernel::finish_copies();
  mine.work = nullptr;
  meet_warps();
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
    copy_text(report.instruction, failure.place == nullptr ? nullptr : failure.place->instruction,
              sizeof report.instruction);
    copy_text(report.file, failure.place == nullptr ? nullptr : failure.place->file, sizeof report.file);
    copy_text(report.text, failure.text, sizeof report.text);
    __threadfence_system();
    report.is_set = 1;
    __threadfence_system();
  }
  // A lane cannot tell the director to leave: nothing but the end of the program is left.
  if (threadIdx.x != 0) __trap();
  leave();
}

__device__ [[noreturn]] inline void fail_at(const BatonPlace* place, BatonKernelError code, const char* text) {
  end_run(BatonFailure{code, 0, place, text});
}

/// Waits until `holds()`, at most `limit_ns` (0: without limit); then, and when the run has ended elsewhere, the core
/// leaves. `late()` reports.
template <typename Holds, typename Late>
__device__ void wait_until(Holds holds, uint64_t limit_ns, Late late) {
  if (holds()) return;
  const uint64_t start = now_ns();
  while (true) {
    for (int i = 0; i < 64; ++i) {
      if (holds()) return;
    }
    if (stopped()) leave();
    if (limit_ns != 0 && now_ns() - start > limit_ns) late();
  }
}

__device__ inline bool extent_holds(const Extent& extent, uint64_t begin, uint64_t bytes) {
  return bytes <= extent.bytes && begin - extent.begin <= extent.bytes - bytes;
}

}  // namespace baton::cuda

__device__ inline void BatonCoreTable::fail(BatonCore*, const BatonFailure* failure) { baton::cuda::end_run(*failure); }

__device__ inline int32_t BatonCoreTable::address_known(BatonCore*, const void* begin, uint64_t bytes, char* nearest,
                                                        uint64_t nearest_bytes) {
  baton::cuda::Control& mine = baton::cuda::control();
  const auto at = reinterpret_cast<uint64_t>(begin);
  if (baton::cuda::extent_holds(mine.last_extent, at, bytes)) return 1;
  const baton::cuda::Run& run = *mine.run;
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
  if (low > 0 && baton::cuda::extent_holds(run.extents[low - 1], at, bytes)) {
    mine.last_extent = run.extents[low - 1];
    return 1;
  }
  if (nearest_bytes != 0) nearest[0] = '\0';  // the host knows the names of buffers
  return 0;
}

// Instructions run in their order here, whatever the pipe, but for bulk copies: their flags count.
__device__ inline void BatonCoreTable::issue(BatonCore*, const BatonIssue*) {}
__device__ inline void BatonCoreTable::set_flag(BatonCore*, uint32_t producer, uint32_t consumer, int32_t id,
                                                const BatonPlace*) {
  baton::cuda::set_copy_flag(producer, consumer, id);
}
__device__ inline void BatonCoreTable::wait_flag(BatonCore*, uint32_t producer, uint32_t consumer, int32_t id,
                                                 const BatonPlace*) {
  baton::cuda::wait_copy_flag(producer, consumer, id);
}
__device__ inline void BatonCoreTable::pipe_barrier(BatonCore*, uint32_t pipe, const BatonPlace*) {
  if (pipe == PIPE_ALL) baton::kernel::finish_copies();
}

// A kernel that polls memory calls them in its loop: what it read may be old, and the run may be over.
__device__ inline void BatonCoreTable::cache_line(BatonCore*, const volatile void*, int32_t, int32_t) {
  baton::cuda::finish_stores();
  __threadfence_system();
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
                                              const BatonPlace*) {
  baton::cuda::finish_stores();
  // Releases; pairs with load_acquire_gpu() in test() and wait().
  if (op == 0) {
    __nv_atomic_fetch_add(signal, value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
  } else {
    __nv_atomic_store_n(signal, value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
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
  baton::cuda::wait_until(
      [&] { return baton::cuda::compares(baton::cuda::load_acquire_gpu(signal), comparison, value); },
      baton::cuda::control().run->wait_limit_ns,
      [&] {
        baton::kernel::fail(*place, BATON_KERNEL_WAIT_TIMEOUT, "waited ",
                            baton::cuda::control().run->wait_limit_ns / 1000000, " ms for the signal at address ",
                            reinterpret_cast<uint64_t>(signal), " (has ", baton::cuda::load_acquire_gpu(signal),
                            ", needs ", value, ")");
      });
}

__device__ inline uint64_t BatonCoreTable::session_open(BatonCore*, const BatonSession*, const BatonPlace*) {
  return 0;
}
__device__ inline uint64_t BatonCoreTable::copy_submit(BatonCore*, const BatonCopy*, const BatonPlace* place) {
  baton::cuda::fail_at(place, BATON_KERNEL_UNSUPPORTED, "platform cuda has no asynchronous copies yet");
}
__device__ inline int32_t BatonCoreTable::copy_test(BatonCore*, uint64_t, uint64_t, const BatonPlace* place) {
  baton::cuda::fail_at(place, BATON_KERNEL_UNSUPPORTED, "platform cuda has no asynchronous copies yet");
}
__device__ inline void BatonCoreTable::copy_wait(BatonCore*, uint64_t, uint64_t, const BatonPlace* place) {
  baton::cuda::fail_at(place, BATON_KERNEL_UNSUPPORTED, "platform cuda has no asynchronous copies yet");
}
__device__ inline void BatonCoreTable::copy_defer(BatonCore*, uint64_t) {}

__device__ inline int32_t BatonCoreTable::pipe_acquire(BatonCore*, const BatonPipeSlot*, const BatonPlace* place) {
  baton::cuda::fail_at(place, BATON_KERNEL_UNSUPPORTED, "platform cuda has no pipes between cores yet");
}
__device__ inline void BatonCoreTable::pipe_release(BatonCore*, const BatonPipeSlot*, const BatonPlace* place) {
  baton::cuda::fail_at(place, BATON_KERNEL_UNSUPPORTED, "platform cuda has no pipes between cores yet");
}
__device__ inline const BatonBuffer* BatonCoreTable::pipe_peer(BatonCore*, uint32_t, uint32_t,
                                                               const BatonPlace* place) {
  baton::cuda::fail_at(place, BATON_KERNEL_UNSUPPORTED, "platform cuda has no pipes between cores yet");
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
