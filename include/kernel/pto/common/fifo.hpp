// Pipes between the cube core of a cluster and its vector cores: rings of slots in global memory, or in the vector
// cores' buffers. Both sides construct the same TPipe; the cluster's runtime counts what was pushed and popped.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_COMMON_FIFO_HPP
#define PTO_COMMON_FIFO_HPP

#include <pto/instructions/assign.hpp>
#include <pto/instructions/load_store.hpp>

namespace pto {

/// From the cube core to the vector cores, back, or both; _GM: on chips that have also pipes without global memory.
enum Direction : uint8_t { DIR_C2V = 1, DIR_V2C = 2, DIR_BOTH = 3, DIR_C2V_GM = 4, DIR_V2C_GM = 5 };

/// Which part of a slot a vector core has: all of it, its rows, its columns.
enum class TileSplitAxis { TILE_NO_SPLIT, TILE_UP_DOWN, TILE_LEFT_RIGHT };

template <auto FlagId, uint8_t PipeDirection, uint32_t SlotBytes, uint32_t SlotNum, uint32_t LocalSlotNum = 2,
          bool IsNoSplit = false, bool Reserved = false>
struct TPipe {
  static constexpr uint32_t kId = static_cast<uint32_t>(FlagId);
  static constexpr uint8_t kDirection = PipeDirection;
  static constexpr uint32_t kSlotBytes = SlotBytes;
  static constexpr uint32_t kSlots = SlotNum;
  static constexpr uint32_t kLocalSlots = LocalSlotNum;
  static_assert(SlotNum > 0 && LocalSlotNum > 0 && SlotBytes > 0, "TPipe: a pipe has slots");
  static_assert(PipeDirection >= DIR_C2V && PipeDirection <= DIR_V2C_GM, "TPipe: not a direction");

  /// What this core has done on one of its two sides.
  struct Side {
    uint64_t next = 0;
    uint64_t freed = 0;
    int64_t entry_offset = -1;  // replaces the shift of a split if it is set

    AICORE int getTileId() const { return static_cast<int>(next); }
    AICORE void setEntryOffset(int bytes) { entry_offset = bytes; }
  };

  template <typename Pointee>
  AICORE TPipe(Pointee* ring, uint32_t c2v_offset, uint32_t v2c_offset)
      : gm(reinterpret_cast<uint8_t*>(ring)), c2v(c2v_offset), v2c(v2c_offset) {}
  AICORE TPipe(decltype(nullptr), uint32_t c2v_offset, uint32_t v2c_offset) : c2v(c2v_offset), v2c(v2c_offset) {}

  Side prod;
  Side cons;
  uint8_t* gm = nullptr;
  uint32_t c2v;
  uint32_t v2c;
};

}  // namespace pto

namespace baton::kernel {

inline constexpr uint32_t kToVectors = 0;
inline constexpr uint32_t kToCube = 1;

template <typename Pipe>
constexpr AICORE bool goes(uint32_t way) {
  using namespace pto;
  return Pipe::kDirection == DIR_BOTH ||
         (way == kToVectors ? Pipe::kDirection == DIR_C2V || Pipe::kDirection == DIR_C2V_GM
                            : Pipe::kDirection == DIR_V2C || Pipe::kDirection == DIR_V2C_GM);
}

template <typename Element>
constexpr AICORE const char* element_name() {
  if (std::is_same_v<Element, float>) return "float";
  if (std::is_same_v<Element, half>) return "half";
  if (std::is_same_v<Element, bfloat16_t>) return "bfloat16";
  constexpr bool kSigned = static_cast<float>(static_cast<Element>(-1)) < 0;
  constexpr const char* kNames[] = {"uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"};
  constexpr int kSize = sizeof(Element) == 1 ? 0 : sizeof(Element) == 2 ? 1 : sizeof(Element) == 4 ? 2 : 3;
  return kNames[2 * kSize + (kSigned ? 1 : 0)];
}

/// A slot as the runtime is told of it. Without an element nobody compares what is in it.
template <typename Pipe>
AICORE BatonPipeSlot slot_of(uint32_t way, uint64_t index, const char* element, int64_t row_elements) {
  return {Pipe::kId, way, Pipe::kSlots, Pipe::kSlotBytes, index, element, static_cast<uint32_t>(row_elements), 0};
}

/// Waits until the slot may be written or read; gives the number of this vector core.
AICORE inline int64_t acquire(const BatonPlace& place, const BatonPipeSlot& slot) {
  PTO_INSTRUCTION_BOUNDARY();
  BatonCore& core = current_core();
  return core.table->pipe_acquire(&core, &slot, &place);
}
AICORE inline void release(const BatonPlace& place, const BatonPipeSlot& slot) {
  PTO_INSTRUCTION_BOUNDARY();
  BatonCore& core = current_core();
  core.table->pipe_release(&core, &slot, &place);
}

/// Where slot `index` begins in global memory.
template <typename Pipe>
AICORE uint8_t* slot_address(const BatonPlace& place, const Pipe& pipe, uint32_t way, uint64_t index) {
  if (kChecks && pipe.gm == nullptr) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the pipe has no ring in global memory");
  }
  const uint64_t before = way == kToCube && Pipe::kDirection == pto::DIR_BOTH ? Pipe::kSlots : 0;
  return pipe.gm + (before + index % Pipe::kSlots) * Pipe::kSlotBytes;
}

/// A pipe whose slots are in the vector cores' own buffers.
template <typename Pipe>
AICORE bool is_local(const Pipe& pipe) {
  return Pipe::kDirection == pto::DIR_C2V && pipe.gm == nullptr;
}

/// Elements from one row of a slot to the next, on the side of a vector core or of the cube core.
template <pto::TileSplitAxis split, typename TileData>
constexpr AICORE int64_t row_elements(bool on_vector) {
  return int64_t{TileData::Cols} * (on_vector && split == pto::TileSplitAxis::TILE_LEFT_RIGHT ? 2 : 1);
}

/// Where in a slot the tile of a core begins.
template <pto::TileSplitAxis split, typename TileData, typename Side>
AICORE int64_t shift_of(const Side& side, bool on_vector, int64_t vector) {
  if (side.entry_offset >= 0) return side.entry_offset;
  if (!on_vector || split == pto::TileSplitAxis::TILE_NO_SPLIT) return 0;
  constexpr int64_t kBytes = sizeof(typename TileData::DType);
  return vector * (split == pto::TileSplitAxis::TILE_UP_DOWN ? int64_t{TileData::Rows} * TileData::Cols * kBytes
                                                             : int64_t{TileData::Cols} * kBytes);
}

/// The part of a slot that a tile fills, as rows and columns of global memory.
PTO_ONCE PTO_SHARED AICORE GlobalView part_of_slot(const BatonPlace& place, const TileView& tile, uint8_t* slot,
                                                   int64_t slot_bytes, int64_t row_elements, int64_t shift) {
  const int64_t rows = tile.valid_rows;
  const int64_t cols = tile.valid_cols;
  const int64_t bytes = ((rows - 1) * row_elements + cols) * tile.order.element_bytes;
  if (kChecks && shift + bytes > slot_bytes) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, "a tile of ", rows, " x ", cols, " elements reaches ", shift + bytes,
         " bytes into a slot of ", slot_bytes);
  }
  const GlobalView part{slot + shift,
                        tile.order.element_bytes,
                        pto::Layout::ND,
                        {{1, 1, 1, rows, cols}, {0, 0, 0, rows == 1 ? 0 : row_elements, cols == 1 ? 0 : 1}}};
  check_access(place, "the slot", part);
  return part;
}

/// Copies the parts of an accumulator to the vector cores' own slots.
template <pto::TileSplitAxis split, typename Pipe, typename TileData>
AICORE void push_to_vectors(const BatonPlace& place, const Pipe& pipe, const TileData& tile) {
  using Element = typename TileData::DType;
  constexpr bool kRows = split == pto::TileSplitAxis::TILE_UP_DOWN;
  constexpr bool kCols = split == pto::TileSplitAxis::TILE_LEFT_RIGHT;
  constexpr int64_t kPartRows = kRows ? TileData::Rows / 2 : TileData::Rows;
  constexpr int64_t kPartCols = kCols ? TileData::Cols / 2 : TileData::Cols;
  const uint64_t begin = pipe.c2v + pipe.prod.next % Pipe::kSlots * Pipe::kSlotBytes;
  BatonCore& core = current_core();
  issue(place, pipe_bit(PIPE_FIX), reads(tile));
  for (uint32_t vector = 0; vector < 2; ++vector) {
    const BatonBuffer* buffer = core.table->pipe_peer(&core, vector, static_cast<uint32_t>(pto::TileType::Vec), &place);
    if (buffer == nullptr) continue;
    if (kChecks && begin + Pipe::kSlotBytes > buffer->capacity) {
      fail(place, BATON_KERNEL_OUT_OF_RANGE, "a slot of ", Pipe::kSlotBytes, " bytes at offset ", begin,
           " does not fit into the Vec buffer, which has ", buffer->capacity, " bytes");
    }
    auto* to = reinterpret_cast<Element*>(buffer->base + begin);
    const int64_t row0 = kRows ? vector * kPartRows : 0;
    const int64_t col0 = kCols ? vector * kPartCols : 0;
    const int64_t rows = tile.GetValidRow() - row0 < kPartRows ? tile.GetValidRow() - row0 : kPartRows;
    const int64_t cols = tile.GetValidCol() - col0 < kPartCols ? tile.GetValidCol() - col0 : kPartCols;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t col = 0; col < cols; ++col) to[row * kPartCols + col] = *element_at(tile, row0 + row, col0 + col);
    }
  }
}

template <pto::TileSplitAxis split, typename Pipe, typename TileData>
AICORE void push(Pipe& pipe, TileData& tile, Where where) {
  using Element = typename TileData::DType;
  static_assert(lies_in<TileData, pto::TileType::Acc, pto::TileType::Vec>, "TPUSH takes an Acc or a Vec tile");
  static_assert(is_plain_vec<TileData> || lies_in<TileData, pto::TileType::Acc>, "TPUSH takes a row-major Vec tile");
  constexpr bool kVector = lies_in<TileData, pto::TileType::Vec>;
  constexpr uint32_t kWay = kVector ? kToCube : kToVectors;
  static_assert(goes<Pipe>(kWay),
                "TPUSH: this side of the pipe pops (Acc goes to the vector cores, Vec to the cube core)");
  const BatonPlace place = place_of("TPUSH", where);
  check_tile(place, "tile", tile);
  const bool empty = is_empty(tile);
  constexpr int64_t kRow = row_elements<split, TileData>(kVector);
  const bool local = is_local(pipe);
  const int64_t pitch = local && split == pto::TileSplitAxis::TILE_LEFT_RIGHT ? kRow / 2 : kRow;
  const BatonPipeSlot slot = slot_of<Pipe>(kWay, pipe.prod.next, empty ? nullptr : element_name<Element>(), pitch);
  const int64_t vector = acquire(place, slot);
  if (!empty && local) {
    if constexpr (!kVector) push_to_vectors<split>(place, pipe, tile);
  } else if (!empty) {
    const int64_t shift = shift_of<split, TileData>(pipe.prod, kVector, vector);
    uint8_t* const at = slot_address(place, pipe, kWay, pipe.prod.next);
    const GlobalView part = part_of_slot(place, tile, at, Pipe::kSlotBytes, kRow, shift);
    issue_transfer(place, pipe_bit(kVector ? PIPE_MTE3 : PIPE_FIX), reads(tile), part, BATON_WRITES);
    copy_bytes(tile, part, Way::from_tile);
  }
  release(place, slot);
  ++pipe.prod.next;
}

template <pto::TileSplitAxis split, typename Pipe, typename TileData>
AICORE void pop(Pipe& pipe, TileData& tile, Where where) {
  using Element = typename TileData::DType;
  static_assert(lies_in<TileData, pto::TileType::Mat, pto::TileType::Vec>, "TPOP takes a Vec or a Mat tile");
  constexpr bool kVector = lies_in<TileData, pto::TileType::Vec>;
  static_assert(
      kVector ? is_plain_vec<TileData> : !TileData::isRowMajor && TileData::SFractal == pto::SLayout::RowMajor,
      "TPOP takes a row-major Vec tile, or a Mat tile in boxes (ColMajor, RowMajor)");
  constexpr uint32_t kWay = kVector ? kToVectors : kToCube;
  static_assert(goes<Pipe>(kWay),
                "TPOP: this side of the pipe pushes (Vec comes from the cube core, Mat from the vector cores)");
  const BatonPlace place = place_of("TPOP", where);
  const bool local = is_local(pipe);
  constexpr bool kHalfSlots = Pipe::kDirection == pto::DIR_C2V_GM || Pipe::kDirection == pto::DIR_V2C_GM;
  const uint64_t turn = pipe.cons.next % (local ? Pipe::kSlots : Pipe::kLocalSlots);
  const uint64_t step = local || !kHalfSlots ? Pipe::kSlotBytes : Pipe::kSlotBytes / 2;
  assign(tile, static_cast<int64_t>((kVector ? pipe.c2v : pipe.v2c) + turn * step), where);
  check_tile(place, "tile", tile);
  const bool empty = is_empty(tile);
  constexpr int64_t kRow = row_elements<split, TileData>(kVector);
  const BatonPipeSlot slot = slot_of<Pipe>(kWay, pipe.cons.next, empty ? nullptr : element_name<Element>(),
                                           local ? int64_t{TileData::Cols} : kRow);
  const int64_t vector = acquire(place, slot);
  if (local) {
    // The bytes are there; TFREE gives them back.
    issue(place, pipe_bit(PIPE_MTE2), writes(tile));
  } else {
    if (!empty) {
      const int64_t shift = shift_of<split, TileData>(pipe.cons, kVector, vector);
      uint8_t* const at = slot_address(place, pipe, kWay, pipe.cons.next);
      const GlobalView part = part_of_slot(place, tile, at, Pipe::kSlotBytes, kRow, shift);
      issue_transfer(place, pipe_bit(PIPE_MTE2), writes(tile), part, BATON_READS);
      copy_bytes(tile, part, Way::to_tile);
      poison_last_blocks(tile, poison_of<Element>);
    }
    release(place, slot);
  }
  ++pipe.cons.next;
}

/// The side on which this core pushes and pops: pipes of one direction have one.
template <typename Pipe>
constexpr AICORE uint32_t only_way() {
  static_assert(Pipe::kDirection != pto::DIR_BOTH, "slots as tensors are for pipes of one direction");
  return goes<Pipe>(kToVectors) ? kToVectors : kToCube;
}

/// Gives the tensor the place of a slot, when that is free, or ready.
template <pto::TileSplitAxis split, typename Pipe, typename GlobalData, typename Side>
AICORE void take_slot(const char* name, Pipe& pipe, const Side& side, GlobalData& tensor, Where where) {
  constexpr uint32_t kWay = only_way<Pipe>();
  const BatonPlace place = place_of(name, where);
  const int64_t vector = acquire(place, slot_of<Pipe>(kWay, side.next, nullptr, 0));
  const bool on_vector = (kWay == kToCube) == (&side == &pipe.prod);
  int64_t shift = side.entry_offset >= 0 ? side.entry_offset : 0;
  if (side.entry_offset < 0 && on_vector && split != pto::TileSplitAxis::TILE_NO_SPLIT) {
    const int64_t rows = split == pto::TileSplitAxis::TILE_UP_DOWN ? tensor.GetShape(3) * tensor.GetStride(3) : 0;
    const int64_t cols = split == pto::TileSplitAxis::TILE_LEFT_RIGHT ? tensor.GetShape(4) : 0;
    shift = vector * (rows + cols) * int64_t{sizeof(typename GlobalData::RawDType)};
  }
  uint8_t* const slot = slot_address(place, pipe, kWay, side.next);
  tensor.set_data(reinterpret_cast<typename GlobalData::DType*>(slot + shift));
}

}  // namespace baton::kernel

namespace pto {

/// Waits for a free slot and stores the tile there, or, of a tensor, makes the slot that TALLOC gave it ready.
template <typename Pipe, typename Data, TileSplitAxis split>
AICORE RecordEvent TPUSH(Pipe& pipe, Data& data, baton::kernel::Where where = baton::kernel::Where::current()) {
  if constexpr (baton::kernel::is_tile<Data>) {
    baton::kernel::push<split>(pipe, data, where);
  } else {
    const BatonPlace place = baton::kernel::place_of("TPUSH", where);
    const uint32_t way = baton::kernel::only_way<Pipe>();
    baton::kernel::release(place, baton::kernel::slot_of<Pipe>(way, pipe.prod.next++, nullptr, 0));
  }
  return {};
}

/// Waits for a slot that is ready, gives the tile its place in the buffer of this core, and loads it; of a tensor,
/// gives it the slot itself, until TFREE.
template <typename Pipe, typename Data, TileSplitAxis split>
AICORE RecordEvent TPOP(Pipe& pipe, Data& data, baton::kernel::Where where = baton::kernel::Where::current()) {
  if constexpr (baton::kernel::is_tile<Data>) {
    baton::kernel::pop<split>(pipe, data, where);
  } else {
    baton::kernel::take_slot<split>("TPOP", pipe, pipe.cons, data, where);
    ++pipe.cons.next;
  }
  return {};
}

/// Gives the tensor the next free slot, to be filled and pushed.
template <typename Pipe, typename GlobalData, TileSplitAxis split>
AICORE RecordEvent TALLOC(Pipe& pipe, GlobalData& tensor,
                          baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::take_slot<split>("TALLOC", pipe, pipe.prod, tensor, where);
  return {};
}

/// Frees the oldest slot that was popped and is not free: one in this core's own buffer. Others TPOP has freed.
template <typename Pipe, TileSplitAxis split>
AICORE RecordEvent TFREE(Pipe& pipe, baton::kernel::Where where = baton::kernel::Where::current()) {
  if (!baton::kernel::is_local(pipe)) return {};
  const BatonPlace place = baton::kernel::place_of("TFREE", where);
  if (baton::kernel::kChecks && pipe.cons.freed == pipe.cons.next) {
    baton::kernel::fail(place, BATON_KERNEL_INVALID_ARGUMENT, "no slot is popped");
  }
  baton::kernel::release(place, baton::kernel::slot_of<Pipe>(baton::kernel::kToVectors, pipe.cons.freed++, nullptr, 0));
  return {};
}

/// Frees a slot that was popped as a tensor.
template <typename Pipe, typename GlobalData, TileSplitAxis split>
AICORE RecordEvent TFREE(Pipe& pipe, GlobalData&, baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TFREE", where);
  const uint32_t way = baton::kernel::only_way<Pipe>();
  baton::kernel::release(place, baton::kernel::slot_of<Pipe>(way, pipe.cons.freed++, nullptr, 0));
  return {};
}

}  // namespace pto

#endif
