// What a core of a GPU keeps of matrix products under way: pto/target/cuda/matrix_unit.hpp.
#pragma once

#include <stdint.h>
#include <pto/target/cuda/loading.hpp>
#include <pto/target/cuda/run.hpp>

namespace baton::cuda {

/// Commands to the lanes that may be under way at once.
inline constexpr uint32_t kCommands = 4;
using CommandRing = BarrierRing<kCommands>;
inline constexpr uint32_t kKeptTiles = 16;
inline constexpr uint32_t kViews = 4;
/// A tile that is kept begins at a multiple of this.
inline constexpr uint32_t kPage = 1024;
inline constexpr uint32_t kNowhere = ~0u;
/// Of loads to the loaders that may be under way at once.
inline constexpr uint32_t kOrders = 8;
using OrderRing = BarrierRing<kOrders>;
/// Warps that multiply.
inline constexpr uint32_t kMatrixWarps = kMostThreads / kWarp - 1;

/// Steps of a product that are begun together.
inline constexpr uint32_t kTogether = 4;

/// An operand for the matrix unit. Addresses and distances count 16 bytes.
constexpr __device__ uint16_t step_order(uint32_t first, uint32_t per_chunk, uint32_t chunk) {
  const uint32_t step = per_chunk == 1 ? chunk : per_chunk == kTogether && first % kTogether == 0 ? 2 : 0;
  return static_cast<uint16_t>(step << 2 | per_chunk / 2);
}
struct alignas(16) Operand {
  uint32_t low;    // of a descriptor: address and leading distance
  uint32_t high;   // of a descriptor
  uint16_t chunk;  // from one chunk to the next
  uint16_t block;  // from 64 rows to the next
  uint16_t first;  // steps in the first chunk that come before it
  uint16_t order;  // step_order()

  /// 1 << shift steps are in a chunk.
  __device__ __forceinline__ uint32_t shift() const { return order & 3; }
  /// From a step to the next one, the same for each four steps together; 0: it is not.
  __device__ __forceinline__ uint32_t step() const { return order >> 2; }
  __device__ __forceinline__ uint32_t four_steps() const { return uint32_t{chunk} << (2 - shift()); }
  /// Of the first step, if it is the first of its chunk.
  __device__ __forceinline__ uint32_t begin() const { return low + (first >> shift()) * chunk; }
};

enum class MatrixWork : uint32_t {
  multiply_half,
  multiply_half_across,  // steps of the common dimension are lines of right
  multiply_bfloat16,
  multiply_bfloat16_across,
  fill,   // registers from an accumulator
  spill,  // and back
  store_float,
  store_half,
  store_bfloat16,
  end,
};
constexpr __device__ MatrixWork multiply_work(bool is_bfloat16, bool across) {
  return static_cast<MatrixWork>((is_bfloat16 ? 2 : 0) + (across ? 1 : 0));
}
/// Of multiply_work().
constexpr PTO_ANYWHERE bool is_of_bfloat16(MatrixWork work) { return (static_cast<uint32_t>(work) & 2) != 0; }
constexpr PTO_ANYWHERE bool is_across(MatrixWork work) { return (static_cast<uint32_t>(work) & 1) != 0; }

/// The phase that ends when a load is there: the address of the barrier of its first portion, that of the second behind
/// it, and in the lowest bit the parity of both.
using LoadPhase = uint32_t;

/// How many rows and columns the lanes' registers hold.
enum class Sums : uint32_t { none, rows128_cols128, rows256_cols128, rows128_cols256 };

/// What a product adds to.
enum class Begins : uint32_t { at_zero, at_accumulator };

struct alignas(16) MatrixCommand {
  MatrixWork work;
  uint32_t rows;
  uint32_t steps;  // of a product
  uint32_t onto;   // of a product; 0: the sums begin with it
  Operand left;
  Operand right;
  LoadPhase left_load;   // of a product
  LoadPhase right_load;  // of a product
  uint32_t first_steps;  // of a product: those of the first portions; 0: it begins when all is there
  uint32_t cols;         // of a store, or the accumulator
  uint64_t memory;       // of those
  int64_t pitch;         // of a store in elements; from a band of the accumulator to the next
};

/// Two numbers below 65,536 as one.
constexpr PTO_ANYWHERE uint32_t pair_of(uint32_t low, uint32_t high) { return low | high << 16; }

/// What a load says of its tile: lines of elements.
struct alignas(16) TileKey {
  uint32_t begin;  // in Mat; kNowhere: there is none
  uint32_t size;   // pair_of(lines, length)
  uint32_t valid;  // the same of what is loaded; behind them it is 0
  uint32_t pitch;  // bytes

  __device__ __forceinline__ uint32_t lines() const { return size & 0xffff; }
  __device__ __forceinline__ uint32_t length() const { return size >> 16; }
  __device__ __forceinline__ uint32_t valid_lines() const { return valid & 0xffff; }
  __device__ __forceinline__ uint32_t valid_length() const { return valid >> 16; }
  __device__ __forceinline__ uint32_t bytes() const { return lines() * length() * 2; }
};
__device__ __forceinline__ bool are_same(const TileKey& a, const TileKey& b) {
  return ((a.begin ^ b.begin) | (a.size ^ b.size) | (a.valid ^ b.valid) | (a.pitch ^ b.pitch)) == 0;
}

/// What the portions of a tile are: halves of each line, of which there are several chunks, or half of the lines.
enum class Split : uint8_t { none, lengths, lines };

enum LoadFlag : uint8_t {
  kHasReader = 1,  // a command reads what was there before
  kHasNewMap = 2,
  kLoaderLeaves = 4,  // and nothing else
};

/// A tile of Mat in shared memory, in the form of pto/target/operand_form.hpp.
struct KeptTile {
  TileKey key;
  struct alignas(16) State {
    uint64_t base;     // of its map; 0: it is loaded anew next time
    uint32_t reach;    // it may be loaded from here to this many bytes behind that
    uint32_t bytes;    // of memory, from its first to behind its last
    uint32_t reader;   // the command behind the last one that reads it
    uint16_t is_read;  // kHasReader: there is one since the last load; 0: none
    Split wanted;      // by products
    Split split;       // of the last load
    uint32_t loads;    // of this place, so far
    uint32_t map;      // of the last one
  } state;
};
/// Where a tile is kept if nobody else is there: tiles lie at distances of some powers of two, and odd multiples of
/// them.
constexpr PTO_ANYWHERE uint32_t home_of(uint32_t begin) { return begin / kPage * 5 / 16 % kKeptTiles; }

/// To the loader.
struct alignas(16) LoadOrder {
  uint32_t element;  // where it begins in its map
  uint32_t reader;   // as in KeptTile
  uint32_t tile;
  uint32_t flags;  // LoadFlag
};

/// How the loader loads a tile, again and again: boxes of a portion, those that follow each other in lines (`across`)
/// and those with other lines (`down`).
struct alignas(16) LoadPlan {
  const unsigned char* map;
  uint32_t to;          // in shared memory
  uint32_t bytes;       // of a portion
  uint32_t portion_to;  // from a portion to the next, in shared memory
  uint32_t portion_element;
  uint32_t portion_line;
  uint32_t portions;
  uint32_t across_to;  // from a box to the next, in shared memory
  uint32_t down_to;
  uint16_t across;  // how many
  uint16_t down;
  uint16_t across_elements;  // of each
  uint16_t down_lines;
};

/// Of all kept tiles, in front of them in shared memory.
inline constexpr uint32_t kPlansBytes = kPage;
static_assert(kKeptTiles * sizeof(LoadPlan) <= kPlansBytes);

/// A Left or Right tile that is a part of a kept one.
struct alignas(16) OperandView {
  Operand operand;
  struct alignas(16) Part {
    uint32_t extents;    // of its type: pair_of(rows of Left or columns of Right, the others)
    uint32_t counts;     // the valid ones, in the same order: the second are steps of the common dimension
    uint32_t origin;     // where it begins in the tile: pair_of(line, element)
    uint32_t tile_size;  // as in TileKey

    __device__ __forceinline__ uint32_t extent() const { return extents & 0xffff; }
    __device__ __forceinline__ uint32_t depth_extent() const { return extents >> 16; }
    __device__ __forceinline__ uint32_t count() const { return counts & 0xffff; }
    __device__ __forceinline__ uint32_t depth() const { return counts >> 16; }
    __device__ __forceinline__ uint32_t line() const { return origin & 0xffff; }
    __device__ __forceinline__ uint32_t element() const { return origin >> 16; }
  } part;
  /// What follows from the tile that it is a part of.
  struct alignas(16) Link {
    uint32_t at;  // in its buffer; kNowhere: there is none
    LoadPhase load;
    uint16_t first_steps;  // of the common dimension: those of the first portion
    uint8_t tile;
    uint8_t across;         // steps are lines
    uint32_t ends_in_zero;  // not 0: what lies behind its last step is
  } link;
};
__device__ __forceinline__ bool are_same(const OperandView::Part& a, const OperandView::Part& b) {
  return ((a.extents ^ b.extents) | (a.counts ^ b.counts) | (a.origin ^ b.origin) | (a.tile_size ^ b.tile_size)) == 0;
}
/// Where a view is kept if nobody else is there.
constexpr PTO_ANYWHERE uint32_t home_of_view(uint32_t at) { return at >> 15 & (kViews - 1); }

/// Of one side.
struct alignas(16) Views {
  uint16_t tiles[kViews];  // a bit for the tile of which each is a part; 0: there is none
  OperandView of[kViews];
};

/// The accumulator that is in registers: where it lies in its buffer, rows of its type, and what there is of it.
struct alignas(16) Accumulated {
  uint32_t at;
  uint16_t extent;
  uint16_t rows;
  uint16_t cols;
  uint16_t reserved;
  Sums session;  // what the lanes are in
};

/// What a map for loads was made for.
struct alignas(16) MapKey {
  uint64_t base;  // where its matrix begins
  uint32_t pitch;
  uint32_t length;
  uint16_t lines;
  uint16_t form;   // which box; 0: none
  uint64_t bytes;  // of memory from its base on, that kernels may touch
};

struct MatrixUnit {
  Accumulated sums;
  uint32_t window_bytes;  // for tiles of Mat that are kept; 0: none are in this task
  uint32_t kept;          // how many are
  uint32_t posted;        // commands so far
  uint32_t ordered;       // loads so far
  uint32_t first;         // the command with which the session began
  Begins begins;          // what it began with
  uint32_t drained;       // loads that are known to have ended
  uint32_t next_map;
  uint32_t stored;                         // the last command that stores
  uint32_t is_storing;                     // not 0: it may be under way
  uint32_t stores_before;                  // BulkCopies::stores_begun when it was posted
  uint64_t ready[kCommands];               // barriers: the director has written the command
  uint64_t done[kCommands];                // barriers: all warps have carried it out
  uint64_t ordered_at[kOrders];            // barriers: the director has written the order
  uint64_t issued[kOrders];                // barriers: the loader has started all of it
  uint64_t loaded[kKeptTiles][kPortions];  // barriers: the portion is there
  /// Of each warp, the command behind the last one of which it has read the portion.
  alignas(16) uint32_t read[kPortions][kMatrixWarps];
  MatrixCommand commands[kCommands];
  LoadOrder orders[kOrders];
  KeptTile tiles[kKeptTiles];
  Views views[2];  // of Left, of Right
  MapKey maps[kMaps];
};

}  // namespace baton::cuda
