// What a core of a GPU that stays does with a command.
#pragma once

#include <pto/target/cuda/feed.hpp>
#include <pto/target/cuda/run_graph.hpp>

namespace baton::cuda {

// In the memory for packets: a command, the descriptors of its tensors, 128 bytes apart as kernels expect them, and
// what came from the host, behind the packets of a small graph, which stay there.
inline constexpr uint32_t kCommandAt = 0;
inline constexpr uint32_t kTensorsAt = (kPlaceBytes + kTensorBytes - 1) / kTensorBytes * kTensorBytes;
inline constexpr uint32_t kMostTensors = kPlaceBytes / kTensorPart;
inline constexpr uint32_t kLandingBytes = kPlaceWords * uint32_t{sizeof(Word)};
inline constexpr uint32_t kBellLanding = kLandings;
inline constexpr uint32_t kLandingsAt = kPacketRoom - (kLandings * kLandingBytes + kTensorBytes);
static_assert(kTensorsAt + kMostTensors * kTensorBytes <= kLandingsAt && kLandingsAt % kTensorBytes == 0);
static_assert(kLandingBytes % kTensorBytes == 0);

/// Bytes of the host come to a landing: by a bulk copy, since reads of memory of the host would wait for each other.
/// Words of a ring may be old, or come from two laps: each says its own.
__device__ inline void fetch(const KeptControl& mine, uint32_t landing, const void* from, uint32_t bytes) {
  // What was there before was read.
  fence_shared_copies();
  mine->landings.pending |= 1u << landing;
  barrier_expect(&mine->landings.landed[landing], bytes);
  copy_to_shared(mine->packets + kLandingsAt + landing * kLandingBytes, from, bytes, &mine->landings.landed[landing]);
}
__device__ inline void fetch_words(const KeptControl& mine, uint32_t landing, const Word* place, uint32_t count) {
  fetch(mine, landing, place, count * uint32_t{sizeof(Word)});
}
__device__ inline bool has_landed(const KeptControl& mine, uint32_t landing) {
  return barrier_has_ended(&mine->landings.landed[landing], mine->landings.parities >> landing & 1);
}

__device__ inline const Word* landed(const KeptControl& mine, uint32_t landing) {
  return reinterpret_cast<const Word*>(mine->packets + kLandingsAt + landing * kLandingBytes);
}
__device__ inline bool all_landed(const Word* words, uint32_t lap, uint32_t end) {
  bool all = true;
  for (uint32_t i = 0; i < end; ++i) all = all && words[i].lap == lap;
  return all;
}
/// Some words, without what says their lap, to `to`.
__device__ inline void take_words(const Word* words, uint32_t begin, uint32_t end, unsigned char* to) {
  auto* parts = reinterpret_cast<uint32_t*>(to);
#pragma unroll 1
  for (uint32_t i = begin; i < end; ++i, parts += 3) {
    const uint4 word = *reinterpret_cast<const uint4*>(&words[i]);
    parts[0] = word.x;
    parts[1] = word.y;
    parts[2] = word.z;
  }
}

/// The description of the run that a command belongs to, if it is another one than that of the command before.
__device__ inline void adopt(const KeptControl& mine, const CommandHead& head, uint64_t& run, uint32_t& version) {
  if (head.run == run && head.version == version) return;
  const auto* from = reinterpret_cast<const uint64_t*>(head.run);
  auto* to = reinterpret_cast<uint64_t*>(&mine->own_run);
  static_assert(sizeof(Run) % sizeof(uint64_t) == 0);
  for (uint32_t i = 0; i < sizeof(Run) / sizeof(uint64_t); ++i) to[i] = from[i];
  prepare_buffers(mine->own_run);
  forget_extents();
  run = head.run;
  version = head.version;
}

/// What a core knows about the graph that it ran last.
struct KeptGraph {
  PacketReader reader;
  uint64_t run;
  uint32_t version;
  bool here;  // its packets are in the core's memory
};

/// `is_same`: it is the graph of the command before.
__device__ inline void run_graph_command(const KeptControl& mine, KeptGraph& kept, uint32_t number, bool is_same) {
  Run& run = mine->own_run;
  run.number = number;
  if (!is_same) {
    const uint32_t parities = kept.reader.parities;
    kept.reader = reader_of(run);
    kept.reader.parities = parities;
    kept.here = false;
  }
  // What others wrote to memory, the host among them, is there for copies, too. A single task sees for itself.
  const bool is_single = kept.here && kept.reader.count == 1;
  if (!is_single) fence_copies();
  run_packets(run, mine, kept.reader, kept.here, is_single ? 1 : 0);
  kept.here = kept.reader.fits() && kept.reader.count * kept.reader.each <= kLandingsAt;
}

__device__ inline void await_cores(const CoreWords* cores, const Awaited* waits, uint32_t count, const Run& run) {
  for (uint32_t i = 0; i < count; ++i) {
    const Awaited awaited = waits[i];
    uint32_t* const word = const_cast<uint32_t*>(&cores[awaited.core].ended);
    const auto ended = [&] { return __nv_atomic_load_n(word, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); };
    uint32_t seen = ended();
    uint64_t since = 0;
    wait_until([&] { return static_cast<int32_t>(ended() - awaited.ended) >= 0; },
               [&](uint64_t waited_ns) {
                 // As long as that core ends tasks, it is its turn.
                 const uint32_t now = ended();
                 if (now != seen) since = waited_ns;
                 seen = now;
                 if (run.run_limit_ns == 0 || waited_ns - since <= run.run_limit_ns) return;
                 kernel::fail(BatonPlace{"", "", 0, 0}, BATON_KERNEL_WAIT_TIMEOUT, "waited ",
                              (waited_ns - since) / 1000000, " ms for a task before it, on core ", awaited.core);
               });
  }
  // Acquires what the cores released in tell_ended().
  if (count != 0) asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/// The command is in the core's memory. `number`: how many came before it.
__device__ inline void run_task_command(const KeptControl& mine, const CoreWords* cores, uint32_t number) {
  const TaskCommand& command = *reinterpret_cast<const TaskCommand*>(mine->packets + kCommandAt);
  const uint32_t flags = command.flags;
  const uint32_t tensors = command.tensors;
  mine->task = command.task;
  mine->copies.memory_changed = 1;
  mine->local.block_idx = static_cast<int32_t>(command.block_index);
  mine->local.block_num = static_cast<int32_t>(command.block_count);
  const unsigned char* rest = mine->packets + kCommandAt + sizeof(TaskCommand);
  int64_t descriptors = mine.address_of(offsetof(Control, packets) + kTensorsAt);
  if ((flags & kElsewhere) != 0) {
    descriptors = *reinterpret_cast<const int64_t*>(rest);
    rest = reinterpret_cast<const unsigned char*>(descriptors + tensors * kTensorBytes);
  }
#pragma unroll 1
  for (uint32_t i = 0; i < tensors; ++i) mine->args[i] = descriptors + i * kTensorBytes;
  const auto& condition = *reinterpret_cast<const Condition*>(rest);
  if ((flags & (kHasPredicate | kHasCounter)) != 0) rest += sizeof(Condition);
  const auto* waits = reinterpret_cast<const Awaited*>(rest);
  const auto* scalars = reinterpret_cast<const int64_t*>(waits + command.waits);
#pragma unroll 1
  for (uint32_t i = 0; i < command.scalars; ++i) mine->args[tensors + i] = scalars[i];
  await_cores(cores, waits, command.waits, mine->own_run);
  const bool runs = await_condition(flags, condition) && command.entry != 0;
  if ((flags & kTaskHasQueue) != 0) mine->args[tensors + command.scalars - 1] = begin_queue();
  if ((flags & kTaskIsTimed) != 0) {
    begin_times(*mine, mine->own_run.times + blockIdx.x * kTimesOfCore + number % kTimesOfCore, runs);
  }
  if (runs) {
    if constexpr (kStrictPipes) begin_judging((flags & kTaskIsCube) != 0);
    reinterpret_cast<void (*)(int64_t*)>(command.entry)(
        reinterpret_cast<int64_t*>(mine.address_of(offsetof(Control, args))));
    if constexpr (kStrictPipes) end_judging();
  }
  const Leftovers left = mine->left;
  if ((left.condition_count | static_cast<uint32_t>(left.condition_error) | left.timed | left.queued) != 0) {
    end_kernel(left);
  }
}

}  // namespace baton::cuda
