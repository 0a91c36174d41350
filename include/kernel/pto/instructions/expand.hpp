// One column or one row repeated over a tile, alone or combined with another tile.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/reduce.hpp>

namespace baton::kernel {

/// The exponential of a difference.
struct ExponentialOfDifference {
  template <typename Element>
  PTO_INLINE AICORE Element operator()(Element first, Element second) const {
    return static_cast<Element>(exponential(widened(first) - widened(second)));
  }
};

/// Gives the second of two operands.
struct TakeSecond {
  template <typename Element>
  PTO_INLINE AICORE Element operator()(Element, Element second) const {
    return second;
  }
};

template <typename Dst, typename Src, typename Vector>
AICORE void check_expansion(const BatonPlace& place, const Dst& dst, const Src& src, const Vector& vector) {
  static_assert(is_plain_vec<Dst> && is_plain_vec<Src>, "expansions take row-major Vec tiles");
  static_assert(std::is_same_v<typename Dst::DType, typename Src::DType> &&
                    std::is_same_v<typename Dst::DType, typename Vector::DType>,
                "element types differ");
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_tile(place, "the vector", vector);
  check_same_valid(place, "dst", dst, "src", src);
}

/// A column by itself: N x 1, column-major.
template <typename TileData>
inline constexpr bool is_single_column =
    lies_in<TileData, pto::TileType::Vec> && !TileData::isBoxedLayout && !TileData::isRowMajor && TileData::Cols == 1;

/// An operation whose operands come the other way round.
template <typename Operation>
struct Swapped {
  template <typename Element>
  PTO_INLINE AICORE Element operator()(Element first, Element second) const {
    return Operation{}(second, first);
  }
};

/// dst(r, c) = operation(src(r, c), vector(r, 0)), whatever else the vector has.
template <typename Operation, typename Dst, typename Src, typename Vector>
AICORE void expand_column(const BatonPlace& place, Dst& dst, Src& src, Vector& vector) {
  using Element = typename Dst::DType;
  static_assert(is_column<Vector>, "the vector is a row-major Vec tile, or a column-major one of one column");
  check_expansion(place, dst, src, vector);
  check_equal(place, "the valid rows of dst", dst.GetValidRow(), "those of the vector", vector.GetValidRow());
  issue(place, pipe_bit(PIPE_V), reads(src), reads(vector), writes(dst));
  for (int row = 0; row < dst.GetValidRow(); ++row) {
    const WithScalar<Operation, Element> operation{*element_at(vector, row, 0)};
    apply_to_run(operation, static_cast<size_t>(dst.GetValidCol()), element_at(dst, row, 0),
                 static_cast<const Element*>(element_at(src, row, 0)));
  }
}

/// dst(r, c) = operation(src(r, c), vector(r, c mod n)), where n are as many elements as 32 bytes hold.
template <typename Operation, typename Dst, typename Src, typename Vector>
AICORE void expand_block(const BatonPlace& place, Dst& dst, Src& src, Vector& vector) {
  using Element = typename Dst::DType;
  constexpr size_t kBlock = pto::BLOCK_BYTE_SIZE / sizeof(Element);
  check_expansion(place, dst, src, vector);
  check_equal(place, "the valid rows of dst", dst.GetValidRow(), "those of the vector", vector.GetValidRow());
  issue(place, pipe_bit(PIPE_V), reads(src), reads(vector), writes(dst));
  for (int row = 0; row < dst.GetValidRow(); ++row) {
    // dst may lie on the vector.
    Element block[kBlock];
    memcpy(static_cast<void*>(block), static_cast<const void*>(element_at(vector, row, 0)), sizeof block);
    const Element* from = element_at(src, row, 0);
    vector_store(element_at(dst, row, 0), static_cast<size_t>(dst.GetValidCol()),
                 [&](size_t i) PTO_INLINE_LAMBDA { return Operation{}(from[i], block[i % kBlock]); });
  }
}

/// A row-major vector has 1 valid column or those of 32 bytes.
template <typename Operation, typename Dst, typename Src, typename Vector>
AICORE void expand_rows(const BatonPlace& place, Dst& dst, Src& src, Vector& vector) {
  constexpr int kBlock = pto::BLOCK_BYTE_SIZE / int{sizeof(typename Dst::DType)};
  if constexpr (is_single_column<Vector>) {
    expand_column<Operation>(place, dst, src, vector);
  } else {
    static_assert(is_plain_vec<Vector>, "the vector is a row-major Vec tile, or a column-major one of one column");
    if (vector.GetValidCol() == kBlock) return expand_block<Operation>(place, dst, src, vector);
    if (kChecks && vector.GetValidCol() != 1 && !is_empty(dst)) {
      fail(place, BATON_KERNEL_INVALID_ARGUMENT, "a row-major vector has 1 or ", kBlock, " valid columns, got ",
           vector.GetValidCol());
    }
    expand_column<Operation>(place, dst, src, vector);
  }
}

/// Either operand may be the vector: the column, or the one that is narrower than dst.
template <typename Operation, typename Dst, typename First, typename Second>
AICORE void expand_either(const BatonPlace& place, Dst& dst, First& first, Second& second) {
  if constexpr (is_single_column<Second> || !is_plain_vec<Second>) {
    expand_rows<Operation>(place, dst, first, second);
  } else if constexpr (is_single_column<First>) {
    expand_rows<Swapped<Operation>>(place, dst, second, first);
  } else {
    const int cols = dst.GetValidCol();
    if (second.GetValidCol() == cols && first.GetValidCol() != cols) {
      expand_rows<Swapped<Operation>>(place, dst, second, first);
    } else {
      expand_rows<Operation>(place, dst, first, second);
    }
  }
}

/// dst(r, c) = operation(src(r, c), vector(0, c)).
template <typename Operation, typename Dst, typename Src, typename Vector>
AICORE void expand_row(const BatonPlace& place, Dst& dst, Src& src, Vector& vector) {
  using Element = typename Dst::DType;
  static_assert(is_plain_vec<Vector>, "the vector is a row-major Vec tile");
  check_expansion(place, dst, src, vector);
  check_equal(place, "the valid columns of dst", dst.GetValidCol(), "those of the vector", vector.GetValidCol());
  issue(place, pipe_bit(PIPE_V), reads(src), reads(vector), writes(dst));
  for (int row = 0; row < dst.GetValidRow(); ++row) {
    apply_to_run(Operation{}, static_cast<size_t>(dst.GetValidCol()), element_at(dst, row, 0),
                 static_cast<const Element*>(element_at(src, row, 0)), static_cast<const Element*>(vector.data()));
  }
}

}  // namespace baton::kernel

namespace pto {

/// dst(r, c) = src(r, 0).
template <typename Dst, typename Src>
AICORE RecordEvent TROWEXPAND(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::expand_column<baton::kernel::TakeSecond>(baton::kernel::place_of("TROWEXPAND", where), dst, dst, src);
  return {};
}
PTO_WITH_EVENTS(TROWEXPAND)

/// dst(r, c) = src(0, c).
template <typename Dst, typename Src>
AICORE RecordEvent TCOLEXPAND(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::expand_row<baton::kernel::TakeSecond>(baton::kernel::place_of("TCOLEXPAND", where), dst, dst, src);
  return {};
}
PTO_WITH_EVENTS(TCOLEXPAND)

#define PTO_EXPANSION(SUFFIX, OPERATION, ACCEPTS, TYPES)                                                            \
  template <typename Dst, typename Src, typename Vector>                                                            \
  requires(baton::kernel::is_tile<Vector>) AICORE RecordEvent TROWEXPAND##SUFFIX(                                   \
      Dst& dst, Src& src, Vector& vector, baton::kernel::Where where = baton::kernel::Where::current()) {           \
    static_assert(baton::kernel::ACCEPTS<typename Dst::DType>, "TROWEXPAND" #SUFFIX " takes " TYPES);               \
    const BatonPlace place = baton::kernel::place_of("TROWEXPAND" #SUFFIX, where);                                  \
    baton::kernel::expand_either<baton::kernel::OPERATION>(place, dst, src, vector);                                \
    return {};                                                                                                      \
  }                                                                                                                 \
  template <typename Dst, typename Src, typename Vector, typename Tmp>                                              \
  requires(baton::kernel::is_tile<Vector> && baton::kernel::is_tile<Tmp>) AICORE RecordEvent TROWEXPAND##SUFFIX(    \
      Dst& dst, Src& src, Vector& vector, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) { \
    const BatonPlace place = baton::kernel::place_of("TROWEXPAND" #SUFFIX, where);                                  \
    baton::kernel::issue(place, baton::kernel::pipe_bit(PIPE_V), baton::kernel::scratch_range(tmp));                \
    baton::kernel::check_apart(place, "tmp", baton::kernel::scratch_range(tmp), "the vector",                       \
                               baton::kernel::reads(vector));                                                       \
    baton::kernel::check_and_clobber(place, tmp, dst, src);                                                         \
    return TROWEXPAND##SUFFIX(dst, src, vector, where);                                                             \
  }                                                                                                                 \
  PTO_WITH_EVENTS(TROWEXPAND##SUFFIX)                                                                               \
  template <typename Dst, typename Src, typename Vector>                                                            \
  requires(baton::kernel::is_tile<Vector>) AICORE RecordEvent TCOLEXPAND##SUFFIX(                                   \
      Dst& dst, Src& src, Vector& vector, baton::kernel::Where where = baton::kernel::Where::current()) {           \
    static_assert(baton::kernel::ACCEPTS<typename Dst::DType>, "TCOLEXPAND" #SUFFIX " takes " TYPES);               \
    const BatonPlace place = baton::kernel::place_of("TCOLEXPAND" #SUFFIX, where);                                  \
    baton::kernel::expand_row<baton::kernel::OPERATION>(place, dst, src, vector);                                   \
    return {};                                                                                                      \
  }                                                                                                                 \
  PTO_WITH_EVENTS(TCOLEXPAND##SUFFIX)

PTO_EXPANSION(ADD, AddNumbers, is_vector_number, "half, float, int16, int32")
PTO_EXPANSION(SUB, SubtractNumbers, is_vector_number, "half, float, int16, int32")
PTO_EXPANSION(MUL, MultiplyNumbers, is_vector_number, "half, float, int16, int32")
PTO_EXPANSION(DIV, DivideNumbers, is_vector_real, "half, float")
PTO_EXPANSION(MAX, LargerNumber, is_vector_number, "half, float, int16, int32")
PTO_EXPANSION(MIN, SmallerNumber, is_vector_number, "half, float, int16, int32")

#undef PTO_EXPANSION

/// dst(r, c) = exp(src(r, c) - vector(0, c)).
template <typename Dst, typename Src, typename Vector>
AICORE RecordEvent TCOLEXPANDEXPDIF(Dst& dst, Src& src, Vector& vector,
                                    baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(baton::kernel::is_vector_real<typename Dst::DType>, "TCOLEXPANDEXPDIF takes half, float");
  const BatonPlace place = baton::kernel::place_of("TCOLEXPANDEXPDIF", where);
  baton::kernel::expand_row<baton::kernel::ExponentialOfDifference>(place, dst, src, vector);
  return {};
}
PTO_WITH_EVENTS(TCOLEXPANDEXPDIF)

}  // namespace pto
