// TMATMUL and its forms: acc = [in or bias +] left * right.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/events.hpp>
#include <pto/instructions/matrix_product.hpp>
#include <pto/instructions/operands.hpp>
#include <pto/target/vector_loop.hpp>

namespace baton::kernel {

template <typename Acc, typename Left, typename Right>
AICORE void check_matmul(const BatonPlace& place, const Acc& acc, const Left& left, const Right& right) {
  using Sum = typename Acc::DType;
  using Element = typename Left::DType;
  static_assert(
      lies_in<Acc, pto::TileType::Acc> && lies_in<Left, pto::TileType::Left> && lies_in<Right, pto::TileType::Right>,
      "TMATMUL takes an Acc, a Left and a Right tile");
  static_assert(std::is_same_v<Element, typename Right::DType>, "TMATMUL: left and right have different element types");
  static_assert((std::is_same_v<Sum, float> && is_one_of<Element, float, half, bfloat16_t>) ||
                    (std::is_same_v<Sum, int32_t> && std::is_same_v<Element, int8_t>),
                "TMATMUL: float from float, half or bfloat16; int32 from int8");
  static_assert(Acc::SFractal == pto::SLayout::RowMajor && !Acc::isRowMajor && Acc::InnerCols == 16,
                "TMATMUL: acc lies in boxes of 16 x 16, column of boxes after column (TileAcc)");
  static_assert(Left::SFractal == pto::SLayout::RowMajor && Left::SFractalSize == 512,
                "TMATMUL: left lies in boxes of 512 bytes, each by rows (TileLeft)");
  static_assert(Right::SFractal == pto::SLayout::ColMajor && Right::SFractalSize == 512 && Right::isRowMajor,
                "TMATMUL: right lies in boxes of 512 bytes, each by columns, row of boxes after row (TileRight)");
  static_assert(Left::Rows <= 4095 && Left::Cols <= 4095 && Right::Cols <= 4095, "TMATMUL: sizes are 1 to 4095");
  check_tile(place, "left", left);
  check_tile(place, "right", right);
  check_not_empty(place, "left", left);
  check_not_empty(place, "right", right);
  if (kChecks && right.GetValidRow() < left.GetValidCol()) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid columns of left are ", left.GetValidCol(),
         ", but right has only ", right.GetValidRow(), " valid rows");
  }
  // The valid size of acc says nothing: kernels multiply fewer rows or columns than they store.
  check_region(place, "acc", acc, left.GetValidRow(), right.GetValidCol());
}

/// What a product writes: m x n elements of acc.
template <typename Acc, typename Left, typename Right>
PTO_INLINE AICORE BatonTileRange product_range(const Acc& acc, BatonAccess access, const Left& left,
                                               const Right& right) {
  return region_of(acc, access, 0, 0, left.GetValidRow(), right.GetValidCol());
}

/// What a product reads of right: as many rows as left has columns.
template <typename Left, typename Right>
PTO_INLINE AICORE BatonTileRange factor_range(const Left& left, const Right& right) {
  return region_of(right, BATON_READS, 0, 0, left.GetValidCol(), right.GetValidCol());
}

/// Calls body(first element, first column) for each 16 columns of an accumulator. The rows of such a band, 16 elements
/// each, follow each other.
template <typename Acc, typename Body>
PTO_INLINE AICORE void for_bands(const Acc& acc, int cols, Body body) {
  for (int col = 0; col < cols; col += Acc::InnerCols) body(element_at(acc, 0, col), col);
}

template <typename Acc>
PTO_INLINE AICORE size_t band_bytes(int rows) {
  return static_cast<size_t>(rows) * Acc::InnerCols * sizeof(typename Acc::DType);
}

/// acc(r, c) += sum over k of left(r, k) * right(k, c); all is checked.
template <typename Acc, typename Left, typename Right>
AICORE void add_tile_product(Acc& acc, Left& left, Right& right) {
  using Number = typename Acc::DType;
  using Element = typename Left::DType;
  using LeftStorage = Storage<Left>;
  const Accumulator<Number> to{acc.data(), Storage<Acc>::kBand};
  const LeftMatrix<Element> from{left.data(), Left::isRowMajor ? LeftStorage::kBox : LeftStorage::kBand,
                                 Left::isRowMajor ? LeftStorage::kBand : LeftStorage::kBox};
  const RightMatrix<Element> by{right.data(), Storage<Right>::kBand};
  add_product(to, from, by, left.GetValidRow(), left.GetValidCol(), right.GetValidCol());
}

}  // namespace baton::kernel

namespace pto {

template <typename Acc, typename Left, typename Right>
AICORE RecordEvent TMATMUL(Acc& acc, Left& left, Right& right,
                           baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  const BatonPlace place = place_of("TMATMUL", where);
  check_matmul(place, acc, left, right);
  issue(place, pipe_bit(PIPE_M), reads(left), factor_range(left, right), product_range(acc, BATON_WRITES, left, right));
  for_bands(acc, right.GetValidCol(), [&](auto* band, int) { memset(band, 0, band_bytes<Acc>(left.GetValidRow())); });
  add_tile_product(acc, left, right);
  return {};
}
PTO_WITH_EVENTS(TMATMUL)

/// out = in + left * right.
template <typename Out, typename In, typename Left, typename Right>
requires(baton::kernel::is_tile<Right>) AICORE RecordEvent
    TMATMUL_ACC(Out& out, In& in, Left& left, Right& right,
                baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  const BatonPlace place = place_of("TMATMUL_ACC", where);
  static_assert(lies_in<In, TileType::Acc> && std::is_same_v<typename Out::DType, typename In::DType>,
                "TMATMUL_ACC: in is an Acc tile of out's element type");
  check_matmul(place, out, left, right);
  check_region(place, "in", in, left.GetValidRow(), right.GetValidCol());
  issue(place, pipe_bit(PIPE_M), reads(left), factor_range(left, right), product_range(in, BATON_READS, left, right),
        product_range(out, BATON_WRITES, left, right));
  if (static_cast<const void*>(out.data()) != static_cast<const void*>(in.data())) {
    for_bands(out, right.GetValidCol(), [&](auto* band, int col) {
      move_bytes(band, element_at(in, 0, col), band_bytes<Out>(left.GetValidRow()));
    });
  }
  add_tile_product(out, left, right);
  return {};
}

/// acc += left * right.
template <typename Acc, typename Left, typename Right>
AICORE RecordEvent TMATMUL_ACC(Acc& acc, Left& left, Right& right,
                               baton::kernel::Where where = baton::kernel::Where::current()) {
  return TMATMUL_ACC(acc, acc, left, right, where);
}
PTO_WITH_EVENTS(TMATMUL_ACC)

/// acc = bias + left * right; bias is one row.
template <typename Acc, typename Left, typename Right, typename Bias>
AICORE RecordEvent TMATMUL_BIAS(Acc& acc, Left& left, Right& right, Bias& bias,
                                baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  const BatonPlace place = place_of("TMATMUL_BIAS", where);
  static_assert(lies_in<Bias, TileType::Bias> && Bias::Rows == 1 && Bias::ColStride == 1 &&
                    std::is_same_v<typename Acc::DType, typename Bias::DType>,
                "TMATMUL_BIAS: bias is a Bias tile of one row and acc's element type");
  check_matmul(place, acc, left, right);
  check_tile(place, "bias", bias);
  check_equal(place, "the valid columns of bias", bias.GetValidCol(), "those of right", right.GetValidCol());
  issue(place, pipe_bit(PIPE_M), reads(left), factor_range(left, right), reads(bias),
        product_range(acc, BATON_WRITES, left, right));
  for (int row = 0; row < left.GetValidRow(); ++row) {
    for (int col = 0; col < right.GetValidCol(); ++col) *element_at(acc, row, col) = bias.data()[col];
  }
  add_tile_product(acc, left, right);
  return {};
}
PTO_WITH_EVENTS(TMATMUL_BIAS)

}  // namespace pto
