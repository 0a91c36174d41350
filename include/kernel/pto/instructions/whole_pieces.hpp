// Elementwise instructions on tiles of which lanes take whole pieces, whose sizes their types say, or which are lines:
// the director compares a few numbers, and lanes know how far to count. All else goes through lane_pieces.hpp.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/tile.hpp>
#include <pto/instructions/lane_pieces.hpp>
#include <pto/target/issue.hpp>

namespace baton::kernel {

/// Pieces of a valid region of so many rows.
template <uint32_t kRows, uint32_t kOfRow>
struct SizedPieces {
  constexpr AICORE uint32_t count() const { return kRows * kOfRow; }
  constexpr AICORE uint32_t row_of(uint32_t at) const { return at / kOfRow; }
  /// Where piece number `at` lies in a tile whose rows are `kPitch` pieces apart.
  template <uint32_t kPitch>
  constexpr AICORE uint32_t place_of(uint32_t at) const {
    return kPitch == kOfRow || kRows == 1 ? at : at / kOfRow * kPitch + at % kOfRow;
  }
};

/// Pieces of a line.
struct LinePieces {
  uint32_t pieces;
  AICORE uint32_t count() const { return pieces; }
  template <uint32_t kPitch>
  AICORE uint32_t place_of(uint32_t at) const {
    return at;
  }
};

/// Operands, as lanes take pieces of them.
template <typename TileData>
struct WholeTile {
  using Element = typename TileData::DType;
  static constexpr uint32_t kPitch = TileData::Cols / kLanePiece<Element>;
  VecAddress<Element> first;

  PTO_INLINE AICORE explicit WholeTile(const TileData& tile) : first(tile.data()) {}
  template <typename Pieces>
  PTO_INLINE AICORE void load(Element (&piece)[kLanePiece<Element>], const Pieces& pieces, uint32_t at) const {
    load_wide(piece, first.get() + pieces.template place_of<kPitch>(at) * kLanePiece<Element>);
  }
  template <typename Pieces>
  PTO_INLINE AICORE void store(const Element (&piece)[kLanePiece<Element>], const Pieces& pieces, uint32_t at) const {
    store_wide_in_vec(first.get() + pieces.template place_of<kPitch>(at) * kLanePiece<Element>, piece);
  }
};

template <typename Element>
struct EachNumber {
  Element number;
  template <typename Pieces>
  PTO_INLINE AICORE void load(Element& into, const Pieces& /*pieces*/, uint32_t /*at*/) const {
    into = number;
  }
};

/// One number for each row, `kPitch` elements apart.
template <typename TileData>
struct NumberOfRow {
  using Element = typename TileData::DType;
  static constexpr uint32_t kPitch = TileData::isRowMajor ? TileData::Cols : 1;
  VecAddress<Element> first;

  PTO_INLINE AICORE explicit NumberOfRow(const TileData& tile) : first(tile.data()) {}
  template <typename Pieces>
  PTO_INLINE AICORE void load(Element& into, const Pieces& pieces, uint32_t at) const {
    into = first.get()[pieces.row_of(at) * kPitch];
  }
};

template <typename Operation, typename Element>
PTO_INLINE AICORE void combine_piece(const Operation& operation, Element (&piece)[kLanePiece<Element>],
                                     const Element (&with)[kLanePiece<Element>]) {
  PTO_UNROLL
  for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
    piece[k] = static_cast<Element>(operation(widened(piece[k]), widened(with[k])));
  }
}
template <typename Operation, typename Element>
PTO_INLINE AICORE void combine_piece(const Operation& operation, Element (&piece)[kLanePiece<Element>],
                                     const Element& with) {
  const WithNumber<Operation, Computed<Element>> all(operation, widened(with));
  all.apply(piece, piece);
}

/// Calls body(a number of pieces together, the first one) for the pieces of a lane, which are lanes.count apart.
template <uint32_t kTogether, typename Body>
PTO_INLINE AICORE void for_pieces(Lanes lanes, uint32_t count, const Body& body) {
  uint32_t at = lanes.lane;
  for (; at + (kTogether - 1) * lanes.count < count; at += kTogether * lanes.count) body(Number<kTogether>{}, at);
  for (; at < count; at += lanes.count) body(Number<1>{}, at);
}
/// Loads that are on their way at once.
inline constexpr uint32_t kPiecesTogether = 4;

/// dst = operation(first, second).
template <typename Pieces, typename Operation, typename Dst, typename First, typename With, typename Second>
struct Combination {
  WholeTile<Dst> dst;
  WholeTile<First> first;
  Second second;
  Pieces pieces;
  Operation operation;

  PTO_INLINE AICORE void operator()(Lanes lanes) const {
    using Element = typename Dst::DType;
    for_pieces<kPiecesTogether>(lanes, pieces.count(), [&](auto together, uint32_t at) PTO_INLINE_LAMBDA {
      constexpr uint32_t kTogether = decltype(together)::value;
      Element piece[kTogether][kLanePiece<Element>];
      With with[kTogether];
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) {
        first.load(piece[i], pieces, at + i * lanes.count);
        second.load(with[i].of, pieces, at + i * lanes.count);
      }
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) {
        combine_piece(operation, piece[i], with[i].of);
        dst.store(piece[i], pieces, at + i * lanes.count);
      }
    });
  }
};
template <typename Element>
struct PieceOf {
  Element of[kLanePiece<Element>];
};
template <typename Element>
struct NumberOf {
  Element of;
};

/// dst = operation(src).
template <typename Pieces, typename Operation, typename Dst, typename Src>
struct Application {
  WholeTile<Dst> dst;
  WholeTile<Src> src;
  Pieces pieces;
  Operation operation;

  PTO_INLINE AICORE void operator()(Lanes lanes) const {
    using Element = typename Dst::DType;
    for_pieces<kPiecesTogether>(lanes, pieces.count(), [&](auto together, uint32_t at) PTO_INLINE_LAMBDA {
      constexpr uint32_t kTogether = decltype(together)::value;
      Element piece[kTogether][kLanePiece<Element>];
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) src.load(piece[i], pieces, at + i * lanes.count);
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) {
        PTO_UNROLL
        for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
          piece[i][k] = static_cast<Element>(operation(widened(piece[i][k])));
        }
        dst.store(piece[i], pieces, at + i * lanes.count);
      }
    });
  }
};

/// Whether types say the valid size.
template <typename TileData>
inline constexpr bool is_sized = TileData::ValidRow != pto::DYNAMIC&& TileData::ValidCol != pto::DYNAMIC;

/// Rows of whole pieces, as many in all tiles.
template <typename Dst, typename... Others>
inline constexpr bool are_sized_pieces =
    kManyLanes &&
    (is_sized<Dst> && ... && is_sized<Others>)&&(is_plain_vec<Dst>&&...&& is_plain_vec<Others>)&&(
        true && ... && (Dst::ValidRow == Others::ValidRow && Dst::ValidCol == Others::ValidCol)) &&
    Dst::ValidCol % static_cast<int>(kLanePiece<typename Dst::DType>) == 0;
/// Tiles of one row.
template <typename... Tiles>
inline constexpr bool are_lines = kManyLanes && (is_plain_vec<Tiles> && ...) && ((Tiles::ValidRow == 1) && ...);

template <typename... Tiles>
inline constexpr bool may_be_whole = are_sized_pieces<Tiles...> || are_lines<Tiles...>;

/// A tile that is where its type fits; what is wrong is said elsewhere.
template <typename TileData>
PTO_INLINE AICORE bool is_placed(const TileData& tile) {
  constexpr int64_t kWhole = int64_t{TileData::Numel} * int64_t{sizeof(typename TileData::DType)};
  return !kChecks || tile.room_bytes() >= kWhole;  // none is left for a tile without a place
}
template <typename... Tiles>
PTO_INLINE AICORE bool are_wide(const Tiles&... tiles) {
  return (reinterpret_cast<uintptr_t>(tiles.data()) | ...) % kLaneBytes == 0;
}

/// Calls with(pieces) if these tiles are in order, and has many lanes' pieces; false: they go the long way.
template <typename Dst, typename... Others, typename With>
PTO_INLINE AICORE bool with_pieces(const With& with, const Dst& dst, const Others&... others) {
  using Element = typename Dst::DType;
  constexpr uint32_t kPiece = kLanePiece<Element>;
  if constexpr (are_sized_pieces<Dst, Others...>) {
    if (watching_core() != nullptr || !(is_placed(dst) && ... && is_placed(others)) || !are_wide(dst, others...)) {
      return false;
    }
    with(SizedPieces<static_cast<uint32_t>(Dst::ValidRow), static_cast<uint32_t>(Dst::ValidCol) / kPiece>{});
    return true;
  } else if constexpr (are_lines<Dst, Others...>) {
    const int cols = dst.GetValidCol();
    if (watching_core() != nullptr || !(is_placed(dst) && ... && is_placed(others)) || !are_wide(dst, others...) ||
        static_cast<uint32_t>(cols) % kPiece != 0) {
      return false;
    }
    if (kChecks && !((static_cast<uint32_t>(cols) <= uint32_t{Dst::Cols}) && ... &&
                     (cols == others.GetValidCol() && cols <= Others::Cols))) {
      return false;
    }
    with(LinePieces{static_cast<uint32_t>(cols) / kPiece});
    return true;
  } else {
    return false;
  }
}

template <typename Operation, typename Dst, typename First, typename Second>
PTO_INLINE AICORE bool combine_whole(Operation operation, const Dst& dst, const First& first, const Second& second) {
  return with_pieces(
      [&](auto pieces) PTO_INLINE_LAMBDA {
        on_lanes(Combination<decltype(pieces), Operation, Dst, First, PieceOf<typename Dst::DType>, WholeTile<Second>>{
            WholeTile<Dst>(dst), WholeTile<First>(first), WholeTile<Second>(second), pieces, operation});
      },
      dst, first, second);
}
template <typename Operation, typename Dst, typename Src>
PTO_INLINE AICORE bool combine_whole_with_number(Operation operation, const Dst& dst, const Src& src,
                                                 typename Dst::DType number) {
  using Element = typename Dst::DType;
  return with_pieces(
      [&](auto pieces) PTO_INLINE_LAMBDA {
        on_lanes(Combination<decltype(pieces), Operation, Dst, Src, NumberOf<Element>, EachNumber<Element>>{
            WholeTile<Dst>(dst), WholeTile<Src>(src), EachNumber<Element>{number}, pieces, operation});
      },
      dst, src);
}
/// A column of as many rows.
template <typename Dst, typename Src, typename Column>
inline constexpr bool is_column_of =
    are_sized_pieces<Dst, Src>&& is_sized<Column> && !Column::isBoxedLayout && Column::ValidCol == 1 &&
    Column::ValidRow == Dst::ValidRow && (Column::isRowMajor || Column::Cols == 1);
template <typename Operation, typename Dst, typename Src, typename Column>
PTO_INLINE AICORE bool combine_whole_with_column(Operation operation, const Dst& dst, const Src& src,
                                                 const Column& column) {
  if constexpr (is_column_of<Dst, Src, Column>) {
    if (!is_placed(column)) return false;
    return with_pieces(
        [&](auto pieces) PTO_INLINE_LAMBDA {
          on_lanes(
              Combination<decltype(pieces), Operation, Dst, Src, NumberOf<typename Dst::DType>, NumberOfRow<Column>>{
                  WholeTile<Dst>(dst), WholeTile<Src>(src), NumberOfRow<Column>(column), pieces, operation});
        },
        dst, src);
  } else {
    return false;
  }
}
template <typename Operation, typename Dst, typename Src>
PTO_INLINE AICORE bool apply_whole(Operation operation, const Dst& dst, const Src& src) {
  return with_pieces(
      [&](auto pieces) PTO_INLINE_LAMBDA {
        on_lanes(Application<decltype(pieces), Operation, Dst, Src>{WholeTile<Dst>(dst), WholeTile<Src>(src), pieces,
                                                                    operation});
      },
      dst, src);
}

}  // namespace baton::kernel
