// Elementwise instructions on tiles of which lanes take whole pieces, whose sizes their types say, or which are lines:
// the director compares a few numbers, and lanes know how far to count. All else goes through lane_pieces.hpp.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/tile.hpp>
#include <pto/instructions/lane_pieces.hpp>
#include <pto/target/issue.hpp>

namespace baton::kernel {

/// Pieces of a valid region of this many rows.
template <uint32_t kRows, uint32_t kOfRow>
struct SizedPieces {
  constexpr AICORE uint32_t count() const { return kRows * kOfRow; }
  /// Where piece number `at` lies in a tile whose rows are `kPitch` pieces apart.
  template <uint32_t kPitch>
  constexpr AICORE uint32_t place_of(uint32_t at) const {
    return kPitch == kOfRow || kRows == 1 ? at : at / kOfRow * kPitch + at % kOfRow;
  }
  template <uint32_t kPiece, typename Body>
  PTO_INLINE AICORE void for_rest(Lanes /*lanes*/, const Body& /*body*/) const {}
};

/// Pieces of a line.
struct LinePieces {
  uint32_t pieces;
  uint32_t cols;  // may be some more than those of the pieces
  AICORE uint32_t count() const { return pieces; }
  template <uint32_t kPitch>
  AICORE uint32_t place_of(uint32_t at) const {
    return at;
  }
  /// Calls body(element) for those that are in no piece.
  template <uint32_t kPiece, typename Body>
  PTO_INLINE AICORE void for_rest(Lanes lanes, const Body& body) const {
    for (uint32_t at = pieces * kPiece + lanes.lane; at < cols; at += lanes.count) body(at);
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
  PTO_INLINE AICORE Element* piece(const Pieces& pieces, uint32_t at) const {
    return first.get() + pieces.template place_of<kPitch>(at) * kLanePiece<Element>;
  }
  template <typename Pieces>
  PTO_INLINE AICORE void load(Element (&into)[kLanePiece<Element>], const Pieces& pieces, uint32_t at) const {
    load_wide(into, piece(pieces, at));
  }
  template <typename Pieces>
  PTO_INLINE AICORE void store(const Element (&from)[kLanePiece<Element>], const Pieces& pieces, uint32_t at) const {
    store_wide_in_vec(piece(pieces, at), from);
  }
  /// That row alone.
  PTO_INLINE AICORE WholeTile row(uint32_t number) const {
    WholeTile of_row = *this;
    of_row.first = VecAddress<Element>(first.get() + number * uint32_t{TileData::Cols});
    return of_row;
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
/// Calls body(a number of pieces together, the first one) for the pieces of a lane, which are lanes.count apart.
template <uint32_t kTogether, typename Body>
PTO_INLINE AICORE void for_pieces(Lanes lanes, uint32_t count, const Body& body) {
  uint32_t at = lanes.lane;
  for (; at + (kTogether - 1) * lanes.count < count; at += kTogether * lanes.count) body(Number<kTogether>{}, at);
  for (; at < count; at += lanes.count) body(Number<1>{}, at);
}
/// Whose loads are on their way at once.
inline constexpr uint32_t kPiecesTogether = 4;

/// Lanes that take neighbouring pieces of a row, and of which the compiler knows how many they are.
#if defined(__CUDACC__)
inline constexpr uint32_t kTeam = 32;
#else
inline constexpr uint32_t kTeam = 1;
#endif
struct Team {
  uint32_t lane;
  static constexpr uint32_t count = kTeam;
};
template <uint32_t kTogether, typename Pieces, typename Body>
PTO_INLINE AICORE void for_pieces(Team team, const Pieces& /*pieces*/, const Body& body) {
  constexpr uint32_t kCount = Pieces{}.count();
  constexpr uint32_t kOfLane = kCount / kTeam;
  constexpr uint32_t kEach = kOfLane < 2 * kTogether ? kOfLane : 2 * kTogether;
  if constexpr (kEach != 0) {
    PTO_ROLLED
    for (uint32_t i = 0; i + kEach <= kOfLane; i += kEach) body(Number<kEach>{}, team.lane + i * kTeam);
    constexpr uint32_t kRest = kOfLane % kEach;
    if constexpr (kRest != 0) body(Number<kRest>{}, team.lane + (kOfLane - kRest) * kTeam);
  }
  if (kCount % kTeam != 0 && team.lane < kCount % kTeam) body(Number<1>{}, team.lane + kOfLane * kTeam);
}
template <uint32_t kTogether, typename Pieces, typename Body>
PTO_INLINE AICORE void for_pieces(Lanes lanes, const Pieces& pieces, const Body& body) {
  for_pieces<kTogether>(lanes, pieces.count(), body);
}

/// dst = operation(first, second).
template <typename Pieces, typename Operation, typename Dst, typename First, typename Second>
struct Combination {
  WholeTile<Dst> dst;
  WholeTile<First> first;
  WholeTile<Second> second;
  Pieces pieces;
  Operation operation;

  PTO_INLINE AICORE void operator()(Lanes lanes) const {
    using Element = typename Dst::DType;
    for_pieces<kPiecesTogether>(lanes, pieces.count(), [&](auto together, uint32_t at) PTO_INLINE_LAMBDA {
      constexpr uint32_t kTogether = decltype(together)::value;
      Element piece[kTogether][kLanePiece<Element>];
      Element with[kTogether][kLanePiece<Element>];
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) {
        first.load(piece[i], pieces, at + i * lanes.count);
        second.load(with[i], pieces, at + i * lanes.count);
      }
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) {
        combine_piece(operation, piece[i], with[i]);
        dst.store(piece[i], pieces, at + i * lanes.count);
      }
    });
    pieces.template for_rest<kLanePiece<Element>>(lanes, [&](uint32_t at) PTO_INLINE_LAMBDA {
      dst.first.get()[at] =
          static_cast<Element>(operation(widened(first.first.get()[at]), widened(second.first.get()[at])));
    });
  }
};

/// dst = operation(src, number), of pieces that are a lane's.
template <typename Takers, typename Pieces, typename Operation, typename Dst, typename Src>
PTO_INLINE AICORE void combine_with_number(Takers lanes, const Pieces& pieces, const Operation& operation,
                                           typename Dst::DType number, const WholeTile<Dst>& dst,
                                           const WholeTile<Src>& src) {
  using Element = typename Dst::DType;
  constexpr uint32_t kPiece = kLanePiece<Element>;
  const WithNumber<Operation, Computed<Element>> all(operation, widened(number));
  for_pieces<kPiecesTogether>(lanes, pieces, [&](auto together, uint32_t at) PTO_INLINE_LAMBDA {
    constexpr uint32_t kTogether = decltype(together)::value;
    Element piece[kTogether][kPiece];
    PTO_UNROLL
    for (uint32_t i = 0; i < kTogether; ++i) src.load(piece[i], pieces, at + i * lanes.count);
    if (all.apply(piece)) {
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) dst.store(piece[i], pieces, at + i * lanes.count);
      return;
    }
    PTO_ROLLED
    for (uint32_t i = 0; i < kTogether * kPiece; ++i) {
      const uint32_t from = at + i / kPiece * lanes.count;
      dst.piece(pieces, from)[i % kPiece] =
          static_cast<Element>(operation(widened(src.piece(pieces, from)[i % kPiece]), widened(number)));
    }
  });
  pieces.template for_rest<kPiece>(Lanes{lanes.lane, lanes.count}, [&](uint32_t at) PTO_INLINE_LAMBDA {
    dst.first.get()[at] = static_cast<Element>(operation(widened(src.first.get()[at]), widened(number)));
  });
}

/// dst = operation(src, number).
template <typename Pieces, typename Operation, typename Dst, typename Src>
struct NumberCombination {
  using Element = typename Dst::DType;
  WholeTile<Dst> dst;
  WholeTile<Src> src;
  Element number;
  Pieces pieces;
  Operation operation;

  PTO_INLINE AICORE void operator()(Lanes lanes) const {
    combine_with_number(lanes, pieces, operation, number, dst, src);
  }
};

/// dst = operation(src, number of the row). A team of lanes has one row after the other, or several have parts of one,
/// so that what depends on the number alone is done once for a row.
template <uint32_t kRows, uint32_t kOfRow, typename Operation, typename Dst, typename Src, typename Column>
struct ColumnCombination {
  using Element = typename Dst::DType;
  /// Of the numbers.
  static constexpr uint32_t kPitch = Column::isRowMajor ? Column::Cols : 1;
  WholeTile<Dst> dst;
  WholeTile<Src> src;
  VecAddress<Element> numbers;
  Operation operation;

  PTO_INLINE AICORE void operator()(Lanes lanes) const {
    const uint32_t team = lanes.lane / kTeam;
    const uint32_t teams = lanes.count / kTeam;
    if (kRows >= kSharesNone || teams < 2 * kRows) {
      PTO_ROLLED
      for (uint32_t row = team; row < kRows; row += teams) combine_row(Team{lanes.lane % kTeam}, row);
    } else {
      const uint32_t parts = teams / kRows;
      const uint32_t part = team / kRows;
      if (part < parts) combine_row(Lanes{part * kTeam + lanes.lane % kTeam, parts * kTeam}, team % kRows);
    }
  }

 private:
  /// With more than half as many rows as teams no two of them share one, so code for that is left out. A core of a GPU
  /// has eight teams at most.
  static constexpr uint32_t kSharesNone = 5;

  template <typename Takers>
  PTO_INLINE AICORE void combine_row(Takers lanes, uint32_t row) const {
    combine_with_number(lanes, SizedPieces<1, kOfRow>{}, operation, numbers.get()[row * kPitch], dst.row(row),
                        src.row(row));
  }
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
    pieces.template for_rest<kLanePiece<Element>>(lanes, [&](uint32_t at) PTO_INLINE_LAMBDA {
      dst.first.get()[at] = static_cast<Element>(operation(widened(src.first.get()[at])));
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
    if (is_watched() || !(is_placed(dst) && ... && is_placed(others)) || !are_wide(dst, others...)) {
      return false;
    }
    with(SizedPieces<static_cast<uint32_t>(Dst::ValidRow), static_cast<uint32_t>(Dst::ValidCol) / kPiece>{});
    return true;
  } else if constexpr (are_lines<Dst, Others...>) {
    const int cols = dst.GetValidCol();
    if (is_watched() || !(is_placed(dst) && ... && is_placed(others)) || !are_wide(dst, others...)) return false;
    if (kChecks && !((static_cast<uint32_t>(cols) <= uint32_t{Dst::Cols}) && ... &&
                     (cols == others.GetValidCol() && cols <= Others::Cols))) {
      return false;
    }
    with(LinePieces{static_cast<uint32_t>(cols) / kPiece, static_cast<uint32_t>(cols)});
    return true;
  } else {
    return false;
  }
}

template <typename Operation, typename Dst, typename First, typename Second>
PTO_INLINE AICORE bool combine_whole(Operation operation, const Dst& dst, const First& first, const Second& second) {
  return with_pieces(
      [&](auto pieces) PTO_INLINE_LAMBDA {
        post_to_lanes(Combination<decltype(pieces), Operation, Dst, First, Second>{
            WholeTile<Dst>(dst), WholeTile<First>(first), WholeTile<Second>(second), pieces, operation});
      },
      dst, first, second);
}
template <typename Operation, typename Dst, typename Src>
PTO_INLINE AICORE bool combine_whole_with_number(Operation operation, const Dst& dst, const Src& src,
                                                 typename Dst::DType number) {
  return with_pieces(
      [&](auto pieces) PTO_INLINE_LAMBDA {
        post_to_lanes(NumberCombination<decltype(pieces), Operation, Dst, Src>{WholeTile<Dst>(dst), WholeTile<Src>(src),
                                                                               number, pieces, operation});
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
        [&](auto /*pieces*/) PTO_INLINE_LAMBDA {
          constexpr auto kRows = static_cast<uint32_t>(Dst::ValidRow);
          constexpr auto kOfRow = static_cast<uint32_t>(Dst::ValidCol) / kLanePiece<typename Dst::DType>;
          post_to_lanes(ColumnCombination<kRows, kOfRow, Operation, Dst, Src, Column>{
              WholeTile<Dst>(dst), WholeTile<Src>(src), VecAddress<typename Dst::DType>(column.data()), operation});
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
        post_to_lanes(Application<decltype(pieces), Operation, Dst, Src>{WholeTile<Dst>(dst), WholeTile<Src>(src),
                                                                         pieces, operation});
      },
      dst, src);
}

}  // namespace baton::kernel
