// Bulk copies of a GPU: TLOAD and TSTORE of whole lines, which hardware makes between memory and Vec.
//
// Loads are numbered; each has a barrier that its bytes complete. A flag of PIPE_MTE2 remembers how many loads came
// before it, and who waits for it waits for these. Stores are groups, of which the hardware tells how many are left; a
// flag of PIPE_MTE3 waits until Vec has been read. Two copies of one pipe that touch the same bytes keep their order.
//
// Loads see what threads wrote only behind a fence, which takes longer than all else that a load takes. So there is one
// after something that may have changed memory, here or elsewhere: a task before this one, lanes, a signal, dcci.
#pragma once

#include <pto/target/bulk_copy.hpp>
#include <pto/target/cuda/control.hpp>
#include <pto/target/cuda/kept_loads.hpp>

namespace baton::cuda {

/// Waits for the loads before number `end`.
__device__ inline void wait_loads(uint32_t end) {
  BulkCopies& mine = control().copies;
  while (static_cast<int32_t>(end - mine.loads_ended) > 0) {
    barrier_wait(&mine.loaded[mine.loads_ended % kLoads], mine.loads_ended / kLoads % 2);
    ++mine.loads_ended;
  }
}

/// Waits until all stores but the last few have read Vec.
__device__ inline void wait_stores_read(uint32_t end) {
  BulkCopies& mine = control().copies;
  if (static_cast<int32_t>(end - mine.stores_read) <= 0) return;
  switch (mine.stores_begun - end) {
    case 0: asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.bulk.wait_group.read 2;" ::: "memory"); break;
    default: asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory"); break;
  }
  mine.stores_read = end;
}

PTO_OUTLINED __device__ inline void wait_stores() {
  BulkCopies& mine = control().copies;
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  MatrixUnit& unit = control().matrix;
  if (unit.is_storing != 0) wait_command(unit.stored);
  unit.is_storing = 0;
  fence_copies();
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
  wait_loads(mine.loads_begun);
  wait_stores_read(mine.stores_begun);
  if (mine.stored_begin == mine.stored_end) control().left.copies = 0;
}

__device__ inline void set_copy_flag(uint32_t producer, uint32_t consumer, int32_t id) {
  BulkCopies& mine = control().copies;
  if (producer == PIPE_MTE2) mine.flags[0][consumer][id] = mine.loads_begun;
  if (producer == PIPE_MTE3) mine.flags[1][consumer][id] = mine.stores_begun;
}

__device__ inline void wait_copy_flag(uint32_t producer, uint32_t consumer, int32_t id) {
  BulkCopies& mine = control().copies;
  if (producer == PIPE_MTE2) wait_loads(mine.flags[0][consumer][id]);
  // Products wait for the tiles that they read, and stores of sums for those that come from where they write to; the
  // scalar pipe may write anywhere.
  if (consumer == PIPE_S && (producer == PIPE_MTE2 || producer == PIPE_MTE1 || producer == PIPE_M)) drain_kept_loads();
  // The scalar pipe may read what was stored; loads see for themselves.
  if (consumer == PIPE_S && (producer == PIPE_MTE3 || producer == PIPE_FIX)) return finish_stores();
  if (producer != PIPE_MTE3) return;
  wait_stores_read(mine.flags[1][consumer][id]);
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
  constexpr uint64_t kUnit = 16;
  const auto any = reinterpret_cast<uint64_t>(copy.tile) | reinterpret_cast<uint64_t>(copy.memory) |
                   static_cast<uint64_t>(copy.bytes) |
                   (copy.lines == 1 ? 0 : static_cast<uint64_t>(copy.tile_pitch | copy.memory_pitch));
  return any % kUnit == 0 && (copy.bytes >= kBulkLine || copy.lines == 1) && copy.memory_pitch >= 0;
}

PTO_INLINE __device__ bool begin_load(const kernel::LineCopy& copy) {
  BulkCopies& mine = control().copies;
  const Span memory = span_of(copy.memory, copy.memory_pitch, copy.lines, copy.bytes);
  if (memory.begin < mine.stored_end && mine.stored_begin < memory.end) finish_stores();
  const Span tile = span_of(copy.tile, copy.tile_pitch, copy.lines, copy.bytes);
  const auto begin = static_cast<uint32_t>(tile.begin);
  const auto end = static_cast<uint32_t>(tile.end);
  for (uint32_t load = mine.loads_ended; load != mine.loads_begun; ++load) {
    const LoadedBytes& other = mine.targets[load % kLoads];
    if (begin < other.end && other.begin < end) wait_loads(load + 1);
  }
  if (!is_bulk(copy)) return false;
  if (mine.loads_begun - mine.loads_ended == kLoads) wait_loads(mine.loads_ended + 1);
  const uint32_t slot = mine.loads_begun % kLoads;
  mine.targets[slot] = {begin, end};
  if (mine.memory_changed != 0) {
    fence_copies();
    mine.memory_changed = mine.lanes_wrote = 0;
  } else {
    fence_shared_copies();
  }
  barrier_expect(&mine.loaded[slot], static_cast<uint32_t>(copy.lines * copy.bytes));
  for (int64_t line = 0; line < copy.lines; ++line) {
    copy_to_shared(copy.tile + line * copy.tile_pitch, copy.memory + line * copy.memory_pitch,
                   static_cast<uint32_t>(copy.bytes), &mine.loaded[slot]);
  }
  ++mine.loads_begun;
  control().left.copies = 1;
  return true;
}

/// Stores may write there from now on.
PTO_INLINE __device__ void add_stored(BulkCopies& copies, const Span& memory) {
  const bool first = copies.stored_begin == copies.stored_end;
  if (first || memory.begin < copies.stored_begin) copies.stored_begin = memory.begin;
  if (first || memory.end > copies.stored_end) copies.stored_end = memory.end;
}

PTO_INLINE __device__ bool begin_store(const kernel::LineCopy& copy) {
  BulkCopies& mine = control().copies;
  const Span memory = span_of(copy.memory, copy.memory_pitch, copy.lines, copy.bytes);
  if (memory.begin < mine.stored_end && mine.stored_begin < memory.end) finish_stores();
  if (!is_bulk(copy)) return false;
  if (mine.lanes_wrote != 0) {
    fence_copies();
    mine.memory_changed = mine.lanes_wrote = 0;
  } else {
    fence_shared_copies();
  }
  for (int64_t line = 0; line < copy.lines; ++line) {
    copy_from_shared(copy.memory + line * copy.memory_pitch, copy.tile + line * copy.tile_pitch,
                     static_cast<uint32_t>(copy.bytes));
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  ++mine.stores_begun;
  control().left.copies = 1;
  add_stored(mine, memory);
  return true;
}

PTO_OUTLINED __device__ inline bool begin_lines_load(kernel::LineCopy copy) { return begin_load(copy); }
PTO_OUTLINED __device__ inline bool begin_lines_store(kernel::LineCopy copy) { return begin_store(copy); }
PTO_OUTLINED __device__ inline bool begin_line_load(unsigned char* tile, unsigned char* memory, int64_t bytes) {
  return begin_load({tile, 0, memory, 0, 1, bytes});
}
PTO_OUTLINED __device__ inline bool begin_line_store(unsigned char* memory, unsigned char* tile, int64_t bytes) {
  return begin_store({tile, 0, memory, 0, 1, bytes});
}

/// With less, lanes are as fast.
inline constexpr int64_t kLeastThrough = 32 * 1024;

PTO_OUTLINED __device__ inline bool copy_through(unsigned char* to, unsigned char* from, unsigned char* ping,
                                                 unsigned char* pong, int64_t tile_bytes, int64_t bytes) {
  constexpr uint64_t kUnit = 16;
  const auto any = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from) |
                   reinterpret_cast<uint64_t>(ping) | reinterpret_cast<uint64_t>(pong) | static_cast<uint64_t>(bytes);
  const int64_t piece = tile_bytes / static_cast<int64_t>(kUnit) * static_cast<int64_t>(kUnit);
  if (any % kUnit != 0 || bytes < kLeastThrough || piece == 0 || ping == pong) return false;
  const BulkCopies& mine = control().copies;
  const auto length = [&](int64_t at) { return bytes - at < piece ? bytes - at : piece; };
  begin_load({ping, 0, from, 0, 1, length(0)});
  for (int64_t at = 0; at < bytes; at += piece) {
    const uint32_t loads = mine.loads_begun;
    if (at + piece < bytes) {
      // The tile that it goes to is being stored.
      wait_stores_read(mine.stores_begun);
      begin_load({pong, 0, from + at + piece, 0, 1, length(at + piece)});
    }
    wait_loads(loads);
    begin_store({ping, 0, to + at, 0, 1, length(at)});
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
  return cuda::begin_line_load(tile, memory, bytes);
}
__device__ inline bool start_line_store(unsigned char* memory, unsigned char* tile, int64_t bytes) {
  return cuda::begin_line_store(memory, tile, bytes);
}

__device__ inline bool copy_through(unsigned char* to, const unsigned char* from, unsigned char* ping,
                                    unsigned char* pong, int64_t tile_bytes, int64_t bytes) {
  return cuda::copy_through(to, const_cast<unsigned char*>(from), ping, pong, tile_bytes, bytes);
}

__device__ inline void finish_copies() {
  cuda::wait_loads(cuda::control().copies.loads_begun);
  cuda::drain_kept_loads();
  cuda::finish_stores();
}

}  // namespace baton::kernel
