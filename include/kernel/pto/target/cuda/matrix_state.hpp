// What a core of a GPU keeps of matrix products under way: pto/target/cuda/matrix_unit.hpp.
#pragma once

#include <stdint.h>
#include <pto/target/cuda/run.hpp>

namespace baton::cuda {

/// Commands to the lanes that may be under way at once.
inline constexpr uint32_t kCommands = 4;
inline constexpr uint32_t kKeptTiles = 16;
inline constexpr uint32_t kViews = 4;
/// A tile that is kept begins at a multiple of this.
inline constexpr uint32_t kPage = 1024;
inline constexpr uint32_t kMostPages = 256;
inline constexpr uint32_t kNowhere = ~0u;

/// An operand for the matrix unit. Addresses and distances count 16 bytes.
struct alignas(16) Operand {
  uint32_t low;    // of a descriptor: address and leading distance
  uint32_t high;   // of a descriptor
  uint16_t chunk;  // from one chunk to the next
  uint16_t block;  // from 64 rows to the next
  uint16_t first;  // steps in the first chunk that come before it
  uint16_t shift;  // 1 << shift steps are in a chunk
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

/// How many rows and columns the lanes' registers hold.
enum class Sums : uint32_t { none, rows128_cols128, rows256_cols128, rows128_cols256 };

struct alignas(16) MatrixCommand {
  MatrixWork work;
  uint32_t rows;
  uint32_t steps;  // of a product
  uint32_t onto;   // of a product; 0: the sums begin with it
  Operand left;
  Operand right;
  uint64_t memory;  // of a store, or the accumulator
  int64_t pitch;    // of a store in elements; from a band of the accumulator to the next
  uint32_t cols;    // of those
};

/// What a load says of its tile.
struct alignas(16) TileKey {
  uint32_t begin;  // in Mat; kNowhere: there is none
  uint16_t lines;
  uint16_t length;
  uint16_t valid_lines;  // behind them it is 0
  uint16_t valid_length;
  uint32_t pitch;  // bytes
};
__device__ __forceinline__ bool are_same(const TileKey& a, const TileKey& b) {
  return a.begin == b.begin && a.lines == b.lines && a.length == b.length && a.valid_lines == b.valid_lines &&
         a.valid_length == b.valid_length && a.pitch == b.pitch;
}

/// A tile of Mat in shared memory, in the form of pto/target/operand_form.hpp.
struct KeptTile {
  TileKey key;
  struct alignas(16) State {
    uint32_t load;     // which one brings it
    uint32_t command;  // the last one that reads it
    uint16_t map;      // with which it was loaded
    uint16_t is_read;
    uint64_t base;   // of that; 0: it is gone
    uint64_t bytes;  // that kernels may touch from there on
  } state;
  __device__ __forceinline__ uint32_t bytes() const { return uint32_t{key.lines} * key.length * 2; }
};

/// A Left or Right tile that is a part of a kept one.
struct alignas(16) OperandView {
  Operand operand;
  struct alignas(16) Part {
    uint16_t extent;        // rows of Left's type, or columns of Right's
    uint16_t depth_extent;  // columns of Left's type, or rows of Right's
    uint16_t count;         // valid ones of extent
    uint16_t depth;         // valid steps of the common dimension
    uint16_t line;          // where it begins in the tile
    uint16_t element;
    uint8_t across;        // steps are lines
    uint8_t ends_in_zero;  // behind the last step of it
    uint16_t tile;
  } part;
};

/// Of one side.
struct alignas(16) Views {
  uint32_t at[kViews];   // the low halves of their addresses; kNowhere: there is none
  uint8_t tile[kViews];  // of which they are parts
  OperandView of[kViews];
};
inline constexpr uint8_t kNoTile = 0xff;

/// The accumulator that is in registers: its address, rows of its type, and what there is of it.
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
  uint16_t form;  // which box; 0: none
};

struct MatrixUnit {
  Accumulated sums;
  uint32_t on;      // not 0: tiles of Mat may be kept in this task
  uint32_t kept;    // how many are
  uint32_t first;   // the command with which the session began
  uint32_t posted;  // commands so far
  uint32_t next_map;
  uint64_t ready[kCommands];  // barriers: the director has written the command
  uint64_t done[kCommands];   // barriers: all warps have carried it out
  MatrixCommand commands[kCommands];
  KeptTile tiles[kKeptTiles];
  Views views[2];  // of Left, of Right
  MapKey maps[kMaps];
  uint8_t tile_of_page[kMostPages];
};

}  // namespace baton::cuda
