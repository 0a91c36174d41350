// Strict pipes on a GPU (BATON_PIPES=strict): a core holds what its kernel touches against what its flags promise,
// before the instruction works. As on simulated cores: docs/explanation/simulated-cores.md.
//
// All kernels of a program are compiled so, or none: what runs graphs has another name then.
#pragma once

#include <pto/order/order_memory.hpp>
#include <pto/target/cuda/control.hpp>
#include <pto/target/fail.hpp>
#include <pto/target/lanes.hpp>

namespace baton::cuda {

__device__ inline kernel::OrderMemory& order_memory() { return control().run->order[control().core_number]; }

__device__ inline const char* pipe_name(uint32_t pipe) {
  constexpr const char* kNames[] = {"PIPE_S",    "PIPE_V", "PIPE_MTE1", "PIPE_MTE2",
                                    "PIPE_MTE3", "PIPE_M", "PIPE_ALL",  "PIPE_FIX"};
  return kNames[pipe];
}

/// "TADD at scale.cpp:12", as parts of a text.
struct PlaceParts {
  const char* instruction;
  const char* at;
  const char* file;
  const char* colon;
  kernel::MessagePart line;
  __device__ explicit PlaceParts(const BatonPlace& place)
      : instruction(place.instruction),
        at(place.line == 0 ? "" : " at "),
        file(place.line == 0 ? "" : place.file),
        colon(place.line == 0 ? "" : ":"),
        line(place.line == 0 ? kernel::MessagePart("") : kernel::MessagePart(place.line)) {}
};

/// If the bytes are of memory, the reader of the text adds the name of what they belong to.
__device__ [[noreturn]] __attribute__((noinline, cold)) inline void fail_order(const BatonPlace& second,
                                                                               uint32_t second_pipes,
                                                                               kernel::Bytes shared, uint32_t at) {
  kernel::OrderMemory& memory = order_memory();
  const kernel::Touch& first = memory.touches.touch[at];
  const PlaceParts place(memory.touches.places[at]);
  const char* const producer = pipe_name(kernel::last_pipe(first.pipes));
  const char* const consumer = pipe_name(kernel::first_pipe(second_pipes));
  const char* const does = kernel::writes(memory.next.access) ? "it writes " : "it reads ";
  const char* const did = kernel::writes(first.access) ? " writes on " : " reads on ";
  constexpr const char* kBuffers[] = {"Vec", "Mat", "Left", "Right", "Acc", "Bias", "Scaling"};
  for (uint32_t type = 0; type < BATON_CORE_BUFFERS; ++type) {
    const auto base = reinterpret_cast<uint64_t>(control().core.buffers[type].base);
    if (shared.begin < base || shared.begin >= base + control().core.buffers[type].capacity) continue;
    kernel::fail(second, BATON_KERNEL_PIPE_ORDER, does, "bytes ", shared.begin - base, " to ", shared.end - base - 1,
                 " of the ", kBuffers[type], " buffer on ", consumer, ", which ", place.instruction, place.at,
                 place.file, place.colon, place.line, did, producer,
                 ", and nothing orders the two; between them are missing set_flag(", producer, ", ", consumer,
                 ", id) and wait_flag(", producer, ", ", consumer, ", id)");
  }
  control().signal = shared.begin;
  kernel::fail(second, BATON_KERNEL_PIPE_ORDER, does, shared.end - shared.begin, " bytes at address ", shared.begin,
               " on ", consumer, ", which ", place.instruction, place.at, place.file, place.colon, place.line, did,
               producer, ", and nothing orders the two; between them are missing set_flag(", producer, ", ", consumer,
               ", id) and wait_flag(", producer, ", ", consumer, ", id)");
}

/// With fewer than these the director looks by itself.
inline constexpr uint32_t kLookedAtByLanes = 8;

/// Bytes that an instruction touches.
PTO_OUTLINED __device__ inline void judge_touch(const BatonPlace& place, uint32_t pipes, uint32_t access) {
  kernel::OrderMemory* const memory = &order_memory();
  if (memory->next_runs.bytes == 0) return;
  const uint32_t first = kernel::first_pipe(pipes);
  memory->next = {kernel::span_of(memory->next_runs), memory->before[first], static_cast<uint16_t>(pipes),
                  static_cast<uint16_t>(access), first};
  memory->found = {kernel::kNoTouch, kernel::kNoTouch};
  if (memory->touches.count < kLookedAtByLanes) {
    memory->found =
        memory->touches.look(memory->next, memory->next_runs, memory->before, memory->order, memory->pipes, 0, 1);
  } else {
    kernel::on_lanes([=](kernel::Lanes lanes) {
      const kernel::Found found = memory->touches.look(memory->next, memory->next_runs, memory->before, memory->order,
                                                       memory->pipes, lanes.lane, lanes.count);
      if (found.conflict != kernel::kNoTouch) atomicMin(&memory->found.conflict, found.conflict);
      if (found.free != kernel::kNoTouch) atomicMin(&memory->found.free, found.free);
    });
  }
  // Lanes have changed it.
  const kernel::Found found{__nv_atomic_load_n(&memory->found.conflict, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE),
                            __nv_atomic_load_n(&memory->found.free, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)};
  if (found.conflict != kernel::kNoTouch) {
    kernel::Bytes shared{};
    kernel::share_bytes(memory->next_runs, memory->touches.runs[found.conflict], shared);
    fail_order(place, pipes, shared, found.conflict);
  }
  memory->touches.add(memory->next, memory->next_runs, place, found.free);
}

__device__ inline bool is_in_window(uint64_t address) {
  const Run& run = *control().run;
  for (uint32_t i = 0; i < run.window_count; ++i) {
    if (address - run.windows[i].begin < run.windows[i].bytes) return true;
  }
  return false;
}

PTO_OUTLINED __device__ inline void judge_issue(const BatonIssue& issue) {
  kernel::OrderMemory& memory = order_memory();
  const BatonPlace place = *issue.place;
  memory.before = memory.order.issue(issue.pipes);
  const uint32_t first = kernel::first_pipe(issue.pipes);
  for (uint32_t i = 0; i < issue.tile_count; ++i) {
    memory.next_runs = kernel::runs_of(issue.tiles[i]);
    judge_touch(place, issue.pipes, issue.tiles[i].access);
  }
  for (uint32_t i = 0; i < issue.global_count; ++i) {
    const BatonGlobalRange& range = issue.globals[i];
    memory.next_runs = kernel::runs_of(range);
    judge_touch(place, issue.pipes, range.access | kernel::kOfMemory);
    if (!kernel::writes(range.access)) continue;
    const auto address = reinterpret_cast<uint64_t>(range.address);
    const kernel::GlobalWrite write{memory.before[first], address, first, issue.pipes, place};
    memory.last_write[first] = write;
    if (is_in_window(address)) memory.last_window_write[first] = write;
  }
}

/// A notify publishes only what was drained to the scalar pipe before it.
PTO_OUTLINED __device__ inline void judge_notify(const int32_t* signal, const BatonPlace& place) {
  kernel::OrderMemory& memory = order_memory();
  const bool by_peers = is_in_window(reinterpret_cast<uint64_t>(signal));
  for (const kernel::GlobalWrite& write : by_peers ? memory.last_window_write : memory.last_write) {
    if (memory.order.clock(kernel::kScalarPipe)[write.pipe] >= write.time) continue;
    const PlaceParts first(write.place);
    const char* const producer = pipe_name(kernel::last_pipe(write.pipes));
    control().signal = write.address;
    kernel::fail(place, BATON_KERNEL_PIPE_ORDER, "it overtakes ", first.instruction, first.at, first.file, first.colon,
                 first.line, ", which writes address ", write.address, " on ", producer,
                 " and is not drained; between them are missing set_flag(", producer, ", PIPE_S, id) and wait_flag(",
                 producer, ", PIPE_S, id)");
  }
}

PTO_OUTLINED __device__ inline void judge_set_flag(uint32_t producer, uint32_t consumer, int32_t id,
                                                   const BatonPlace& place) {
  kernel::OrderMemory& memory = order_memory();
  BatonPlace& set_at = memory.set_at[kernel::PipeOrder::flag_of(producer, consumer, id)];
  if (memory.order.is_set(producer, consumer, id)) {
    kernel::fail(place, BATON_KERNEL_PIPE_ORDER, "flag ", id, " from ", pipe_name(producer), " to ",
                 pipe_name(consumer), " is set a second time before anybody awaited it; it was set at ", set_at.file,
                 ":", set_at.line);
  }
  set_at = place;
  memory.order.set_flag(producer, consumer, id);
}

PTO_OUTLINED __device__ inline void judge_wait_flag(uint32_t producer, uint32_t consumer, int32_t id,
                                                    const BatonPlace& place) {
  kernel::OrderMemory& memory = order_memory();
  if (!memory.order.is_set(producer, consumer, id)) {
    kernel::fail(place, BATON_KERNEL_PIPE_ORDER, "flag ", id, " from ", pipe_name(producer), " to ",
                 pipe_name(consumer), " is awaited, but nobody set it: a chip would wait for ever");
  }
  memory.order.wait_flag(producer, consumer, id);
}

PTO_OUTLINED __device__ inline void judge_barrier() {
  kernel::OrderMemory& memory = order_memory();
  memory.order.barrier();
  // All that happened is before all that will.
  memory.touches.clear();
}

PTO_OUTLINED __device__ inline void begin_judging(bool is_cube) {
  order_memory().begin(is_cube ? kernel::kCubePipes : kernel::kVectorPipes);
}

PTO_OUTLINED __device__ inline void end_judging() {
  const kernel::OrderMemory& memory = order_memory();
  for (uint32_t producer = 0; producer < kernel::kPipes; ++producer) {
    const uint64_t set = memory.order.flags_set(producer);
    if (set == 0) continue;
    const auto lowest = static_cast<uint32_t>(__ffsll(static_cast<long long>(set)) - 1);
    kernel::fail(memory.set_at[producer * kernel::kPipes * kernel::kFlagIds + lowest], BATON_KERNEL_LEFT_OPEN, "flag ",
                 lowest % kernel::kFlagIds, " from ", pipe_name(producer), " to ", pipe_name(lowest / kernel::kFlagIds),
                 " is still set when the kernel returns");
  }
}

}  // namespace baton::cuda
