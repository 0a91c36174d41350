// Tile: a matrix in an on-chip buffer, of which a valid region holds data.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/elements.hpp>
#include <pto/common/enums.hpp>
#include <pto/common/order.hpp>
#include <pto/target/fail.hpp>
#include <pto/target/issue.hpp>

namespace baton::kernel {

struct Box {
  int rows;
  int cols;
};

/// The boxes in which a chip stores a boxed tile.
constexpr AICORE Box box_of(pto::SLayout layout, int fractal_bytes, int element_bytes) {
  if (layout == pto::SLayout::NoneBox) return {1, 1};
  if (fractal_bytes == 1024) return {16, 16};
  if (layout == pto::SLayout::RowMajor) return {16, 32 / element_bytes};
  return {32 / element_bytes, 16};
}

/// A valid size that is set at run time.
PTO_ONCE [[noreturn]] PTO_COLD AICORE void refuse_valid_size(const char* what, int most, int64_t got, Where where) {
  fail(place_of("Tile", where), BATON_KERNEL_INVALID_ARGUMENT, what, most, ", got ", got);
}
PTO_INLINE AICORE void check_valid_size(const char* what, int most, int64_t got, Where where) {
  if (kChecks && static_cast<uint64_t>(got) > static_cast<uint64_t>(most)) refuse_valid_size(what, most, got, where);
}

/// One element of a Vec tile, by the scalar pipe.
PTO_ONCE PTO_SHARED AICORE void begin_scalar_access(const BatonPlace& place, uint32_t access, const void* data,
                                                    int64_t element_bytes, int64_t elements, int64_t room_bytes,
                                                    int64_t offset) {
  if (data == nullptr) fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the tile has no place; call TASSIGN first");
  if (offset < 0 || offset >= elements || (offset + 1) * element_bytes > room_bytes) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, "offset ", offset, " is outside the tile, which has ", elements,
         " elements, ", room_bytes, " bytes before the end of the buffer");
  }
  BatonCore* const core = watching_core();
  if (core == nullptr) return;
  const auto bytes = static_cast<uint64_t>(element_bytes);
  const BatonTileRange range{static_cast<uint32_t>(pto::TileType::Vec),
                             access,
                             static_cast<const unsigned char*>(data) + offset * element_bytes,
                             1,
                             bytes,
                             bytes};
  const BatonIssue issue{&place, pipe_bit(PIPE_S), 1, &range, nullptr, 0, 0};
  core->table->issue(core, &issue);
}

}  // namespace baton::kernel

namespace pto {

/// A handle: TASSIGN says where the bytes are, Storage how they lie there.
template <TileType LocOfTile, typename Element, int RowsOfTile, int ColsOfTile, BLayout BlockLayout = BLayout::RowMajor,
          int ValidRowOfTile = RowsOfTile, int ValidColOfTile = ColsOfTile, SLayout BoxLayout = SLayout::NoneBox,
          int FractalBytes = 512, auto PadValueOfTile = PadValue::Null, CompactMode Compact = CompactMode::Null>
class Tile {
 public:
  using DType = Element;
  using TileDType = DType*;

  static constexpr TileType Loc = LocOfTile;
  static constexpr int Rows = RowsOfTile;
  static constexpr int Cols = ColsOfTile;
  static constexpr int ValidRow = ValidRowOfTile;
  static constexpr int ValidCol = ValidColOfTile;
  static constexpr BLayout BFractal = BlockLayout;
  static constexpr SLayout SFractal = BoxLayout;
  static constexpr int SFractalSize = FractalBytes;
  static constexpr auto PadVal = PadValueOfTile;
  static constexpr bool isRowMajor = BlockLayout == BLayout::RowMajor;
  static constexpr bool isBoxedLayout = BoxLayout != SLayout::NoneBox;
  static constexpr int Numel = Rows * Cols;
  static constexpr int InnerRows = baton::kernel::box_of(BoxLayout, FractalBytes, int{sizeof(Element)}).rows;
  static constexpr int InnerCols = baton::kernel::box_of(BoxLayout, FractalBytes, int{sizeof(Element)}).cols;
  /// Without boxes, element (row, column) is data()[row * RowStride + column * ColStride].
  static constexpr int RowStride = isRowMajor ? Cols : 1;
  static constexpr int ColStride = isRowMajor ? 1 : Rows;

  static_assert(!baton::kernel::is_mx_element<Element>, "Tile: MX formats are not supported");
  static_assert(baton::kernel::is_element<Element> || baton::kernel::is_mx_element<Element>,
                "Tile: not an element type");
  static_assert(Rows > 0 && Cols > 0, "Tile: Rows and Cols are at least 1");
  static_assert(ValidRow == DYNAMIC || (ValidRow >= 1 && ValidRow <= Rows), "Tile: ValidRow is not within Rows");
  static_assert(ValidCol == DYNAMIC || (ValidCol >= 1 && ValidCol <= Cols), "Tile: ValidCol is not within Cols");
  static_assert(SFractalSize == 512 || SFractalSize == 1024 || SFractalSize == 32,
                "Tile: fractals have 512, 1024 or 32 bytes");
  static_assert(!isBoxedLayout || SFractalSize != 32, "Tile: boxes of 32 bytes are not supported");
  static_assert(isBoxedLayout || (isRowMajor ? Cols : Rows) * int{sizeof(Element)} % BLOCK_BYTE_SIZE == 0,
                "Tile: a row (column-major: a column) is a multiple of 32 bytes");
  static_assert(!isBoxedLayout || Cols % InnerCols == 0, "Tile: Cols is a multiple of the box's columns");
  static_assert(!isBoxedLayout || Loc == TileType::Vec || Rows == 1 || Rows % InnerRows == 0,
                "Tile: Rows is a multiple of the box's rows");

  /// The valid sizes that are set at run time; DYNAMIC until then.
  int RowMaskInternal = DYNAMIC;
  int ColMaskInternal = DYNAMIC;

  constexpr Tile() = default;

  template <typename RowCount, typename ColCount>
  requires(ValidRow == DYNAMIC && ValidCol == DYNAMIC && std::is_convertible_v<RowCount, unsigned> &&
           std::is_convertible_v<ColCount, unsigned>) AICORE
      Tile(RowCount rows, ColCount cols, baton::kernel::Where where = baton::kernel::Where::current()) {
    set_rows(static_cast<int64_t>(rows), where);
    set_cols(static_cast<int64_t>(cols), where);
  }

  template <typename Count>
  requires((ValidRow == DYNAMIC) != (ValidCol == DYNAMIC) && std::is_convertible_v<Count, unsigned>) AICORE
      Tile(Count count, baton::kernel::Where where = baton::kernel::Where::current()) {  // NOLINT
    if constexpr (ValidRow == DYNAMIC) {
      set_rows(static_cast<int64_t>(count), where);
    } else {
      set_cols(static_cast<int64_t>(count), where);
    }
  }

  AICORE TileDType data() const { return data_; }

  AICORE int GetValidRow() const { return ValidRow == DYNAMIC ? RowMaskInternal : ValidRow; }
  AICORE int GetValidCol() const { return ValidCol == DYNAMIC ? ColMaskInternal : ValidCol; }

  AICORE void SetValidRow(int64_t rows, baton::kernel::Where where = baton::kernel::Where::current()) {
    static_assert(ValidRow == DYNAMIC, "SetValidRow: the type fixes the valid rows");
    set_rows(rows, where);
  }
  AICORE void SetValidCol(int64_t cols, baton::kernel::Where where = baton::kernel::Where::current()) {
    static_assert(ValidCol == DYNAMIC, "SetValidCol: the type fixes the valid columns");
    set_cols(cols, where);
  }
  AICORE void SetValidShape(int64_t rows, int64_t cols, baton::kernel::Where where = baton::kernel::Where::current()) {
    SetValidRow(rows, where);
    SetValidCol(cols, where);
  }

  /// Scalar access; the offset counts elements in storage order.
  AICORE DType GetValue(int64_t offset, baton::kernel::Where where = baton::kernel::Where::current()) const {
    access_scalar("Tile::GetValue", BATON_READS, offset, where);
    return data_[offset];
  }
  AICORE void SetValue(int64_t offset, DType value, baton::kernel::Where where = baton::kernel::Where::current()) {
    access_scalar("Tile::SetValue", BATON_WRITES, offset, where);
    data_[offset] = value;
  }

  /// TASSIGN and TRESHAPE. `room_bytes` are left in the buffer from there on.
  AICORE void set_data(TileDType data, int64_t room_bytes) {
    data_ = data;
    room_bytes_ = room_bytes;
  }
  AICORE int64_t room_bytes() const { return room_bytes_; }

 private:
  AICORE void set_rows(int64_t rows, baton::kernel::Where where) {
    baton::kernel::check_valid_size("valid rows are 0 to ", Rows, rows, where);
    RowMaskInternal = static_cast<int>(rows);
  }
  AICORE void set_cols(int64_t cols, baton::kernel::Where where) {
    baton::kernel::check_valid_size("valid columns are 0 to ", Cols, cols, where);
    ColMaskInternal = static_cast<int>(cols);
  }
  AICORE void access_scalar(const char* name, BatonAccess access, int64_t offset, baton::kernel::Where where) const {
    static_assert(Loc == TileType::Vec, "GetValue and SetValue are for Vec tiles");
    PTO_INSTRUCTION_BOUNDARY();
    baton::kernel::settle_lanes();
    if (!baton::kernel::kChecks) return;
    baton::kernel::begin_scalar_access(baton::kernel::place_of(name, where), access, data_, sizeof(Element), Numel,
                                       room_bytes_, offset);
  }

  TileDType data_ = nullptr;
  int64_t room_bytes_ = 0;
};

template <typename Element, int Rows, int Cols, int ValidRow = Rows, int ValidCol = Cols>
using TileLeft =
    Tile<TileType::Left, Element, Rows, Cols, BLayout::ColMajor, ValidRow, ValidCol, SLayout::RowMajor, 512>;

template <typename Element, int Rows, int Cols, int ValidRow = Rows, int ValidCol = Cols>
using TileRight =
    Tile<TileType::Right, Element, Rows, Cols, BLayout::RowMajor, ValidRow, ValidCol, SLayout::ColMajor, 512>;

template <typename Element, int Rows, int Cols, int ValidRow = Rows, int ValidCol = Cols>
using TileAcc =
    Tile<TileType::Acc, Element, Rows, Cols, BLayout::ColMajor, ValidRow, ValidCol, SLayout::RowMajor, 1024>;

}  // namespace pto

namespace baton::kernel {

template <typename Type>
struct IsTile : std::false_type {};
template <pto::TileType kLoc, typename Element, int kRows, int kCols, pto::BLayout kBlock, int kValidRow, int kValidCol,
          pto::SLayout kBox, int kFractal, auto kPad, pto::CompactMode kCompact>
struct IsTile<pto::Tile<kLoc, Element, kRows, kCols, kBlock, kValidRow, kValidCol, kBox, kFractal, kPad, kCompact>>
    : std::true_type {};

template <typename Type>
inline constexpr bool is_tile = IsTile<std::remove_cv_t<Type>>::value;

template <typename TileData, pto::TileType... kLocs>
inline constexpr bool lies_in = ((TileData::Loc == kLocs) || ...);

/// A Vec tile that is stored row by row.
template <typename TileData>
inline constexpr bool is_plain_vec =
    lies_in<TileData, pto::TileType::Vec>&& TileData::isRowMajor && !TileData::isBoxedLayout;

}  // namespace baton::kernel
