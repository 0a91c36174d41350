// The life of cores of a GPU that stay between runs: they look for commands until none have come for a while.
//
// Nobody is left waiting: the host rings (HostWords::bell) after it has written a command, and then looks whether the
// cores have left (HostWords::left); a core that leaves says so first, and then looks at the bell. Both have a fence
// for the whole system in between, so that at least one of them sees the other. Before that, all cores pause: none is
// in the middle of a command, maybe waiting for another one that would come to its next launch.
#pragma once

#include <pto/target/cuda/commands.hpp>
#include <pto/target/cuda/leaving.hpp>
#include <pto/target/cuda/tell_time.hpp>

namespace baton::cuda {

/// Words that a core looks at while it has nothing to do: enough for a graph, or for a task with a tensor.
inline constexpr uint32_t kOfGraph = 2;
inline constexpr uint32_t kOfTask = 16;
/// A core that always has something to do tells the host this often.
inline constexpr uint32_t kCommandsUntold = 8;

__device__ inline uint64_t gate_of(const Stay& stay) {
  return __nv_atomic_load_n(stay.gate, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

/// What the keeper, the first core, decides with.
struct Keeper {
  uint64_t quiet_since;
  uint64_t bell;
  uint32_t pauses;
};

/// As leaving.hpp wants it.
struct KeeperWords {
  const Stay& stay;
  __device__ void tell_left() const {
    __nv_atomic_store_n(&stay.host->left.launch, stay.launch, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  }
  __device__ uint64_t bell() const {
    // After all that this thread did before. Pairs with HostSide.
    asm volatile("fence.sc.sys;" ::: "memory");
    return __nv_atomic_load_n(&stay.host->bell.commands, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  }
};

__device__ inline void set_gate(const Stay& stay, uint32_t state) {
  __nv_atomic_store_n(stay.gate, gate_word(stay.launch, state), __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}

/// Whether all commands that the bell tells of have ended.
__device__ inline bool all_ended(const Stay& stay, uint64_t bell) {
  uint32_t ended = 0;
  for (uint32_t core = 0; core < gridDim.x; ++core) {
    ended += __nv_atomic_load_n(&stay.cores[core].ended, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  return ended == static_cast<uint32_t>(bell);
}

/// Whether all cores leave, now that none of them has anything to do.
__device__ inline bool try_to_leave(const Stay& stay, Keeper& keeper) {
  const KeeperWords words{stay};
  ++keeper.pauses;
  const uint64_t pause = gate_word(stay.launch, gate_of_pause(keeper.pauses));
  set_gate(stay, gate_of_pause(keeper.pauses));
  // One that has begun something new pauses when it is done, unless that waits for another one: then the bell rings.
  for (uint32_t core = 1; core < gridDim.x; ++core) {
    while (__nv_atomic_load_n(&stay.cores[core].paused_at, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) != pause) {
      if (words.bell() != keeper.bell || stopped()) {
        set_gate(stay, kGateOpen);
        return false;
      }
    }
  }
  const bool leaves = announce_leaving(words, keeper.bell);
  set_gate(stay, leaves ? kGateClosed : kGateOpen);
  return leaves;
}

/// What a core looks at beside its ring, at the same time.
struct Look {
  uint64_t gate;  // of cores but the first
  uint32_t stop;
};
__device__ inline Look look_around(const Stay& stay, const KeptControl& mine) {
  Look look{};
  look.stop = __nv_atomic_load_n(stay.run.stop, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  if (blockIdx.x != 0) {
    look.gate = gate_of(stay);
  } else if ((mine->landings.pending >> kBellLanding & 1) == 0) {
    fetch(mine, kBellLanding, &stay.host->bell, sizeof(Word));
  }
  return look;
}
/// The bell, as it was a moment ago. `quit`: as in HostWords.
__device__ inline uint64_t bell_heard(const KeptControl& mine, uint32_t& quit) {
  wait_for_landing(*mine, kBellLanding);
  const Word word = *landed(mine, kBellLanding);
  quit = word.part[2];
  return uint64_t{word.part[1]} << 32 | word.part[0];
}

/// Of the first core, which found nothing to do. Whether it leaves.
__device__ inline bool keep(const Stay& stay, const KeptControl& mine, Keeper& keeper) {
  uint32_t quit = 0;
  const uint64_t bell = bell_heard(mine, quit);
  const bool quits = quit >= stay.launch;
  const uint64_t now = now_ns();
  if (!quits && now - keeper.quiet_since <= stay.idle_ns) return false;
  const bool quiet = (quits || bell == keeper.bell) && all_ended(stay, bell);
  keeper.bell = bell;
  if (quiet && try_to_leave(stay, keeper)) return true;
  keeper.quiet_since = now;
  return false;
}

/// Of another core, which found nothing to do. Whether it leaves.
__device__ inline bool pause_if_asked(const Stay& stay, uint64_t gate) {
  if (launch_of_gate(gate) != stay.launch || state_of_gate(gate) == kGateOpen) return false;
  if (state_of_gate(gate) == kGateClosed) return true;
  __nv_atomic_store_n(&stay.cores[blockIdx.x].paused_at, gate, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  uint64_t next = gate;
  while (next == gate) {
    if (stopped()) leave();
    next = gate_of(stay);
  }
  return state_of_gate(next) == kGateClosed;
}

/// Releases what the core wrote, lanes and finished copies included, to cores that wait.
__device__ inline void tell_cores(const Stay& stay, uint32_t ended) {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  __nv_atomic_store_n(&stay.cores[blockIdx.x].ended, ended, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
/// The same to the host, which takes longer: one fence does for both.
__device__ inline void tell_all(const Stay& stay, uint32_t ended) {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
  __nv_atomic_store_n(stay.ended + blockIdx.x, ended, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_store_n(&stay.cores[blockIdx.x].ended, ended, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
/// To the host, when cores were told.
__device__ inline void tell_host(const Stay& stay, uint32_t ended) {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
  __nv_atomic_store_n(stay.ended + blockIdx.x, ended, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
}

/// Whether the command is in the landing, where `there` words of its place come to. All of it is there then.
__device__ inline bool land(const KeptControl& mine, uint32_t landing, const Word* place, uint32_t lap,
                            uint32_t there) {
  wait_for_landing(*mine, landing);
  const Word* const words = landed(mine, landing);
  if (words[0].lap != lap) return false;
  const uint32_t count = words[0].part[0] >> 16;
  // The host has begun to write it, so it is there soon.
  while (count > there || !all_landed(words, lap, count)) {
    if (stopped()) leave();
    there = count;
    fetch_words(mine, landing, place, count);
    wait_for_landing(*mine, landing);
  }
  return true;
}

__device__ inline bool is_graph(const Word* words) {
  return static_cast<CommandKind>(words[0].part[0] & 0xffff) == CommandKind::graph;
}

__device__ inline void take_graph(const KeptControl& mine, KeptGraph& kept, const Word* words) {
  GraphCommand command;
  take_words(words, 0, words_of(sizeof command), reinterpret_cast<unsigned char*>(&command));
  // Its packets may come where others land.
  for (uint32_t i = 0; i <= kLandings; ++i) {
    if ((mine->landings.pending >> i & 1) != 0) wait_for_landing(*mine, i);
  }
  const bool is_same = command.head.run == kept.run && command.head.version == kept.version;
  adopt(mine, command.head, kept.run, kept.version);
  run_graph_command(mine, kept, command.number, is_same && kept.reader.packets != nullptr);
}

/// The landing is free then.
__device__ inline void take_task(const KeptControl& mine, KeptGraph& kept, const Word* words) {
  kept.here = false;
  const uint32_t count = words[0].part[0] >> 16;
  const uint32_t first = words_of(sizeof(TaskCommand));
  take_words(words, 0, first, mine->packets + kCommandAt);
  const TaskCommand& command = *reinterpret_cast<const TaskCommand*>(mine->packets + kCommandAt);
  if (command.head.run != kept.run || command.head.version != kept.version) kept.reader.packets = nullptr;
  adopt(mine, command.head, kept.run, kept.version);
  const uint32_t tensors = (command.flags & kElsewhere) != 0 ? 0 : command.tensors;
  for (uint32_t i = 0; i < tensors; ++i) {
    take_words(words, first + i * kTensorWords, first + (i + 1) * kTensorWords,
               mine->packets + kTensorsAt + i * kTensorBytes);
  }
  take_words(words, first + tensors * kTensorWords, count, mine->packets + kCommandAt + sizeof(TaskCommand));
}

/// The commands that a core has fetched: the next one, in a landing, and those behind it, in the landings behind.
struct Fetched {
  uint32_t count;
  uint32_t landing;
  uint32_t wanted;  // behind the next one: more as long as commands are there in time

  __device__ uint32_t landing_of(uint32_t i) const {
    const uint32_t at = landing + i;
    return at < kLandings ? at : at - kLandings;
  }
  /// The next one is done with.
  __device__ void advance() {
    landing = landing_of(1);
    --count;
  }
};

__device__ inline void direct_stay(const Stay& stay) {
  const KeptControl mine;
  KeptGraph kept{};
  const Word* const ring = stay.rings + uint64_t{blockIdx.x} * kPlaces * kPlaceWords;
  const auto place = [&](uint32_t number) { return ring + place_of(number) * kPlaceWords; };
  uint32_t ended = stay.cores[blockIdx.x].ended;
  uint32_t told = ended;
  Keeper keeper{now_ns(), 0, 0};
  Fetched fetched{0, 0, 1};
  uint32_t looked_at = kOfTask;
  while (true) {
    const bool looks = fetched.count == 0;
    Look look{};
    if (looks) {
      fetch_words(mine, fetched.landing, place(ended), looked_at);
      fetched.count = 1;
      look = look_around(stay, mine);
    }
    if (land(mine, fetched.landing, place(ended), lap_of(ended), looks ? looked_at : kPlaceWords)) {
      // Acquires what the host wrote before the command, and others before it did.
      look.stop = __nv_atomic_load_n(stay.run.stop, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
      if (look.stop != 0) leave();
      const Word* const words = landed(mine, fetched.landing);
      if (is_graph(words)) {
        take_graph(mine, kept, words);
        fetched.count = 1;
        looked_at = kOfGraph;
      } else {
        take_task(mine, kept, words);
        if (!looks && fetched.wanted < kLandings - 1) ++fetched.wanted;
        while (fetched.count <= fetched.wanted) {
          fetch_words(mine, fetched.landing_of(fetched.count), place(ended + fetched.count), kPlaceWords);
          ++fetched.count;
        }
        run_task_command(mine, stay.cores, ended);
        looked_at = kOfTask;
      }
      if (mine->left.copies != 0 || mine->lanes.counts.is_unsettled()) {
        finish_stores();
        release_buffers();
      }
      ++ended;
      fetched.advance();
      // Nothing was fetched behind a graph, whose end is what the host waits for; no core does.
      if (fetched.count == 0) {
        if (mine->left.timed != 0) write_times(*mine);
        tell_all(stay, ended);
        told = ended;
      } else {
        tell_cores(stay, ended);
      }
      if (mine->left.timed != 0) write_times(*mine);
      if (told != ended && (ended - told >= kCommandsUntold || !has_landed(mine, fetched.landing))) {
        tell_host(stay, ended);
        told = ended;
      }
      keeper.quiet_since = now_ns();
      continue;
    }
    if (told != ended) {
      tell_host(stay, ended);
      told = ended;
    }
    // Those behind it were fetched when it was not there.
    fetched.advance();
    for (; fetched.count != 0; fetched.advance()) wait_for_landing(*mine, fetched.landing);
    fetched.wanted = 1;
    if (!looks) continue;
    if (look.stop != 0) leave();
    if (blockIdx.x == 0 ? keep(stay, mine, keeper) : pause_if_asked(stay, look.gate)) leave();
  }
}

/// A template, as run_graph().
template <int>
__global__ void __launch_bounds__(kRegistersOfMultiprocessor / kRegistersOfThread, 1)
    stay(const __grid_constant__ Stay stay) {
  const uint32_t director = core_threads() - kWarp;
  if (threadIdx.x == director) {
    control().own_run = stay.run;
    prepare_core(control().own_run);
  }
  __syncthreads();
  if (threadIdx.x < director) {
    lane_life<Multiplies::on_lanes>();
  } else if (threadIdx.x == director) {
    direct_stay(stay);
  }
}
template __global__ void stay<kStrictPipes ? 1 : 0>(const __grid_constant__ Stay stay);

}  // namespace baton::cuda
