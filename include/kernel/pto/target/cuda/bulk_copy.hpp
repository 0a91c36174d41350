// Bulk copies of a GPU: TLOAD and TSTORE of whole lines, which hardware makes between memory and Vec.
//
// Loads are numbered; each has a barrier that its bytes complete. A flag of PIPE_MTE2 remembers how many loads came
// before it, and a wait for it waits for these: lanes, before what they do next, or the director. Stores are groups
// of the first lane, of which the hardware tells it how many are left; a flag of PIPE_MTE3 waits until Vec has been
// read. So the director posts stores, and loads that come after them or after lanes (lane_queue.hpp); other loads it
// starts itself. Two copies of one pipe that touch the same bytes keep their order.
//
// Loads see what threads wrote only behind a fence, which takes longer than all else that a load takes. So there is one
// after something that may have changed memory, here or elsewhere: a task before this one, lanes, a signal, dcci.
#pragma once

#include <pto/target/bulk_copy.hpp>
#include <pto/target/cuda/kept_loads.hpp>
#include <pto/target/cuda/lanes.hpp>
#include <pto/target/cuda/posted_copies.hpp>

namespace baton::cuda {

__device__ inline bool is_before(uint32_t number, uint32_t other) { return static_cast<int32_t>(number - other) < 0; }

/// Waits until the stores before number `end` have read Vec.
__device__ inline void wait_stores_read(uint32_t end) {
  BulkCopies& mine = control().copies;
  if (static_cast<int32_t>(end - mine.stores_read) <= 0) return;
  post_work(&posted_on_lane<AwaitStoresRead>, AwaitStoresRead{left_of(mine.stores_begun - end)});
  kernel::settle_lanes();
  mine.stores_read = end;
}

PTO_OUTLINED __device__ inline void wait_stores() {
  BulkCopies& mine = control().copies;
  MatrixUnit& unit = control().matrix;
  if (unit.is_storing != 0) wait_command(unit.stored);
  unit.is_storing = 0;
  if (mine.stores_finished != mine.stores_begun) {
    post_work(&posted_on_lane<AwaitStores>, AwaitStores{});
    kernel::settle_lanes();
  }
  fence_copies();
  mine.stores_finished = mine.stores_begun;
  mine.stores_read = mine.stores_begun;
  mine.stored_begin = mine.stored_end = 0;
}

/// Waits until all stores are in memory.
__device__ inline void finish_stores() {
  const BulkCopies& mine = control().copies;
  if (mine.stored_begin != mine.stored_end) wait_stores();
}

/// Before another kernel, which may write anywhere in Vec.
__device__ inline void release_buffers() {
  BulkCopies& mine = control().copies;
  wait_stores_read(mine.stores_begun);
  kernel::settle_lanes();
  wait_loads(mine.loads_begun);
  if (mine.stored_begin == mine.stored_end) control().left.copies = 0;
}

__device__ inline void set_copy_flag(uint32_t producer, uint32_t consumer, int32_t id) {
  Control& mine = control();
  BulkCopies& copies = mine.copies;
  if (producer == PIPE_MTE2) copies.flags[0][consumer][id] = static_cast<uint16_t>(copies.loads_begun);
  if (producer == PIPE_MTE3) copies.flags[1][consumer][id] = static_cast<uint16_t>(copies.stores_begun);
  if (producer == PIPE_V && consumer == PIPE_MTE2) {
    copies.works_before_loads[id] = static_cast<uint16_t>(mine.lanes.counts.posted);
  }
}

/// The count whose low half a flag has, since when there were fewer than 65,536 more.
__device__ inline uint32_t count_of(uint16_t flag, uint32_t now) { return now - static_cast<uint16_t>(now - flag); }

__device__ inline void wait_copy_flag(uint32_t producer, uint32_t consumer, int32_t id) {
  Control& mine = control();
  BulkCopies& copies = mine.copies;
  // Products wait for the tiles that they read, and stores of sums for those that come from where they write to; the
  // scalar pipe may write anywhere.
  if (consumer == PIPE_S && (producer == PIPE_MTE2 || producer == PIPE_MTE1 || producer == PIPE_M)) drain_kept_loads();
  // The scalar pipe may read what was stored; loads see for themselves.
  if (consumer == PIPE_S && (producer == PIPE_MTE3 || producer == PIPE_FIX)) return finish_stores();
  if (producer == PIPE_MTE2) {
    // Not those of the matrix unit, which are the loader's.
    if (copies.loads_begun == copies.loads_ended) return;
    const uint32_t loads = count_of(copies.flags[0][consumer][id], copies.loads_begun);
    if (consumer != PIPE_V && consumer != PIPE_MTE3) return wait_loads(loads);
    if (is_before(mine.lanes.counts.loads_wanted, loads)) mine.lanes.counts.loads_wanted = loads;
  } else if (producer == PIPE_MTE3) {
    const uint32_t stores = count_of(copies.flags[1][consumer][id], copies.stores_begun);
    if (consumer == PIPE_MTE2) {
      if (is_before(copies.after_stores, stores)) copies.after_stores = stores;
    } else if (is_before(copies.stores_read, stores)) {
      post_work(&posted_on_lane<AwaitStoresRead>, AwaitStoresRead{left_of(copies.stores_begun - stores)});
    }
  } else if (producer == PIPE_V) {
    if (consumer == PIPE_MTE2) {
      const uint32_t works = count_of(copies.works_before_loads[id], mine.lanes.counts.posted);
      if (is_before(copies.after_works, works)) copies.after_works = works;
    } else if (consumer != PIPE_MTE3) {
      kernel::settle_lanes();
    }
  }
}

/// From the first byte to behind the last one.
struct Span {
  uint64_t begin;
  uint64_t end;
};
__device__ inline Span span_of(const unsigned char* first, int64_t pitch, int64_t lines, int64_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(first);
  return {begin, begin + static_cast<uint64_t>((lines - 1) * pitch + bytes)};
}

/// A line is worth a copy of its own if the director starts it faster than the lanes copy it.
inline constexpr int64_t kBulkLine = 1024;

__device__ inline bool is_bulk(const kernel::LineCopy& copy) {
  const auto any = reinterpret_cast<uint64_t>(copy.tile) | reinterpret_cast<uint64_t>(copy.memory) |
                   static_cast<uint64_t>(copy.bytes) |
                   (copy.lines == 1 ? 0 : static_cast<uint64_t>(copy.tile_pitch | copy.memory_pitch));
  constexpr uint64_t kMostPitch = uint64_t{kUnit} << 32;
  return any % kUnit == 0 && (copy.bytes >= kBulkLine || copy.lines == 1) &&
         static_cast<uint64_t>(copy.memory_pitch) < kMostPitch;
}

/// Whether lanes may have written to tiles after the last fence. There is one before what is posted next.
__device__ __forceinline__ bool take_lanes_wrote(Control& core) {
  const uint32_t posted = core.lanes.counts.posted;
  const bool wrote = core.copies.fenced != posted;
  core.copies.fenced = posted + 1;
  return wrote;
}

/// What became of a copy.
enum class Begun : uint32_t { no, yes, unusual };

/// kIsQuick: calls nothing, since registers that live across a call are saved at both ends; what would take one is
/// unusual.
template <bool kIsQuick>
PTO_INLINE __device__ Begun begin_load(const kernel::LineCopy& copy) {
  Control& core = control();
  BulkCopies& mine = core.copies;
  const Span memory = span_of(copy.memory, copy.memory_pitch, copy.lines, copy.bytes);
  if (memory.begin < mine.stored_end && mine.stored_begin < memory.end) {
    if (kIsQuick) return Begun::unusual;
    finish_stores();
  }
  const Span tile = span_of(copy.tile, copy.tile_pitch, copy.lines, copy.bytes);
  // A load that is none of whole pieces is none of hardware, and ends what it overlaps all the same.
  const uint32_t begin = static_cast<uint32_t>(tile.begin) / kUnit;
  const uint32_t end = (static_cast<uint32_t>(tile.end) + kUnit - 1) / kUnit;
  const uint32_t number = mine.loads_begun;
  // Those that somebody waits for are in order by flags.
  const uint32_t given = core.lanes.counts.loads_given;
#pragma unroll 1
  for (uint32_t load = is_before(mine.loads_ended, given) ? given : mine.loads_ended; load != number; ++load) {
    const LoadedBytes& other = mine.targets[load % kLoads];
    if (begin < other.end && other.begin < end) {
      if (kIsQuick) return Begun::unusual;
      wait_loads(load + 1);
    }
  }
  if (!is_bulk(copy)) return Begun::no;
  const uint32_t slot = number % kLoads;
  const uint32_t ended = mine.loads_ended;
  if (number - ended == kLoads) {
    barrier_wait(&mine.loaded[slot], ended / kLoads % 2);
    mine.loads_ended = ended + 1;
  }
  // Lanes have seen the end of the load that had the place before: they would not notice it any more.
  if (mine.targets[slot].work != 0 && is_before(core.lanes.counts.settled, mine.targets[slot].work)) {
    if (kIsQuick) return Begun::unusual;
    settle_all_work();
  }
  mine.targets[slot] = {static_cast<uint16_t>(begin), static_cast<uint16_t>(end), 0};
  const bool changed = mine.memory_changed != 0;
  const bool follows_stores = is_before(mine.stores_read, mine.after_stores);
  if (follows_stores || is_before(core.lanes.counts.settled, mine.after_works)) {
    const PostedLoad load(copy, follows_stores ? left_of(mine.stores_begun - mine.after_stores) : kAllLeft, slot,
                          take_lanes_wrote(core), changed);
    post(&posted_on_lane<PostedLoad>, load);
  } else {
    if (changed) {
      fence_copies();
    } else {
      fence_shared_copies();
    }
    barrier_expect(&mine.loaded[slot], static_cast<uint32_t>(copy.lines * copy.bytes));
    for (int64_t line = 0; line < copy.lines; ++line) {
      copy_to_shared(copy.tile + line * copy.tile_pitch, copy.memory + line * copy.memory_pitch,
                     static_cast<uint32_t>(copy.bytes), &mine.loaded[slot]);
    }
  }
  core.left.copies = 1;
  if (changed) mine.memory_changed = mine.lanes_wrote = 0;
  mine.loads_begun = number + 1;
  return Begun::yes;
}

/// Stores may write there from now on.
PTO_INLINE __device__ void add_stored(BulkCopies& copies, const Span& memory) {
  const bool first = copies.stored_begin == copies.stored_end;
  if (first || memory.begin < copies.stored_begin) copies.stored_begin = memory.begin;
  if (first || memory.end > copies.stored_end) copies.stored_end = memory.end;
}

template <bool kIsQuick>
PTO_INLINE __device__ Begun begin_store(const kernel::LineCopy& copy) {
  Control& core = control();
  BulkCopies& mine = core.copies;
  const Span memory = span_of(copy.memory, copy.memory_pitch, copy.lines, copy.bytes);
  if (memory.begin < mine.stored_end && mine.stored_begin < memory.end) {
    if (kIsQuick) return Begun::unusual;
    finish_stores();
  }
  if (!is_bulk(copy)) return Begun::no;
  const bool wrote = mine.lanes_wrote != 0;
  post(&posted_on_lane<PostedStore>, PostedStore(copy, 0, 0, take_lanes_wrote(core), wrote));
  core.left.copies = 1;
  if (wrote) mine.memory_changed = mine.lanes_wrote = 0;
  ++mine.stores_begun;
  add_stored(mine, memory);
  return Begun::yes;
}

PTO_OUTLINED __device__ inline bool begin_lines_load(kernel::LineCopy copy) {
  return begin_load<false>(copy) == Begun::yes;
}
PTO_OUTLINED __device__ inline bool begin_lines_store(kernel::LineCopy copy) {
  return begin_store<false>(copy) == Begun::yes;
}
PTO_OUTLINED __device__ inline Begun begin_line_load(unsigned char* tile, unsigned char* memory, int64_t bytes) {
  return begin_load<true>({tile, 0, memory, 0, 1, bytes});
}
PTO_OUTLINED __device__ inline Begun begin_line_store(unsigned char* memory, unsigned char* tile, int64_t bytes) {
  return begin_store<true>({tile, 0, memory, 0, 1, bytes});
}

/// With less, lanes are as fast.
inline constexpr int64_t kLeastThrough = 32 * 1024;

PTO_OUTLINED __device__ inline bool copy_through(unsigned char* to, unsigned char* from, unsigned char* ping,
                                                 unsigned char* pong, int64_t tile_bytes, int64_t bytes) {
  const auto any = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from) |
                   reinterpret_cast<uint64_t>(ping) | reinterpret_cast<uint64_t>(pong) | static_cast<uint64_t>(bytes);
  const int64_t piece = tile_bytes / int64_t{kUnit} * int64_t{kUnit};
  if (any % kUnit != 0 || bytes < kLeastThrough || piece == 0 || ping == pong) return false;
  const BulkCopies& mine = control().copies;
  const auto length = [&](int64_t at) { return bytes - at < piece ? bytes - at : piece; };
  begin_load<false>({ping, 0, from, 0, 1, length(0)});
  for (int64_t at = 0; at < bytes; at += piece) {
    const uint32_t loads = mine.loads_begun;
    if (at + piece < bytes) {
      // The tile that it goes to is being stored.
      wait_stores_read(mine.stores_begun);
      begin_load<false>({pong, 0, from + at + piece, 0, 1, length(at + piece)});
    }
    wait_loads(loads);
    begin_store<false>({ping, 0, to + at, 0, 1, length(at)});
    unsigned char* const other = pong;
    pong = ping;
    ping = other;
  }
  wait_stores_read(mine.stores_begun);
  return true;
}

}  // namespace baton::cuda

namespace baton::kernel {

__device__ inline bool start_load(const LineCopy& copy) { return cuda::begin_lines_load(copy); }
__device__ inline bool start_store(const LineCopy& copy) { return cuda::begin_lines_store(copy); }
__device__ inline bool start_line_load(unsigned char* tile, unsigned char* memory, int64_t bytes) {
  const cuda::Begun begun = cuda::begin_line_load(tile, memory, bytes);
  return begun == cuda::Begun::unusual ? cuda::begin_lines_load({tile, 0, memory, 0, 1, bytes})
                                       : begun == cuda::Begun::yes;
}
__device__ inline bool start_line_store(unsigned char* memory, unsigned char* tile, int64_t bytes) {
  const cuda::Begun begun = cuda::begin_line_store(memory, tile, bytes);
  return begun == cuda::Begun::unusual ? cuda::begin_lines_store({tile, 0, memory, 0, 1, bytes})
                                       : begun == cuda::Begun::yes;
}

__device__ inline bool copy_through(unsigned char* to, const unsigned char* from, unsigned char* ping,
                                    unsigned char* pong, int64_t tile_bytes, int64_t bytes) {
  return cuda::copy_through(to, const_cast<unsigned char*>(from), ping, pong, tile_bytes, bytes);
}

__device__ inline void finish_copies() {
  cuda::drain_kept_loads();
  cuda::finish_stores();
  settle_lanes();
  cuda::wait_loads(cuda::control().copies.loads_begun);
}

}  // namespace baton::kernel
