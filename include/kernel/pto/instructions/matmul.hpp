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
  static_assert(Acc::Rows == Left::Rows && Left::Cols == Right::Rows && Acc::Cols == Right::Cols,
                "TMATMUL: Rows and Cols of the tiles do not agree");
  static_assert(Acc::Rows <= 4095 && Left::Cols <= 4095 && Acc::Cols <= 4095, "TMATMUL: sizes are 1 to 4095");
  check_tile(place, "acc", acc);
  check_tile(place, "left", left);
  check_tile(place, "right", right);
  check_equal(place, "the valid columns of left", left.GetValidCol(), "the valid rows of right", right.GetValidRow());
  check_equal(place, "the valid rows of acc", acc.GetValidRow(), "those of left", left.GetValidRow());
  check_equal(place, "the valid columns of acc", acc.GetValidCol(), "those of right", right.GetValidCol());
}

/// acc(r, c) += sum over k of left(r, k) * right(k, c); all is checked.
template <typename Acc, typename Left, typename Right>
AICORE void add_tile_product(Acc& acc, Left& left, Right& right) {
  static_assert(Left::ColStride == 1 && Right::ColStride == 1 && Acc::ColStride == 1);
  using Element = typename Left::DType;
  add_product<typename Acc::DType, Element>({acc.data(), Acc::Cols}, {left.data(), Left::Cols},
                                            {right.data(), Right::Cols}, left.GetValidRow(), left.GetValidCol(),
                                            right.GetValidCol());
}

}  // namespace baton::kernel

namespace pto {

template <typename Acc, typename Left, typename Right>
AICORE RecordEvent TMATMUL(Acc& acc, Left& left, Right& right,
                           baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  const BatonPlace place = place_of("TMATMUL", where);
  check_matmul(place, acc, left, right);
  issue(place, pipe_bit(PIPE_M), reads(left), reads(right), writes(acc));
  for (int row = 0; row < acc.GetValidRow(); ++row) {
    memset(element_at(acc, row, 0), 0, static_cast<size_t>(acc.GetValidCol()) * sizeof(typename Acc::DType));
  }
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
  check_tile(place, "in", in);
  check_same_valid(place, "out", out, "in", in);
  issue(place, pipe_bit(PIPE_M), reads(left), reads(right), reads(in), writes(out));
  for (int row = 0; row < out.GetValidRow(); ++row) {
    move_bytes(element_at(out, row, 0), element_at(in, row, 0),
               static_cast<size_t>(out.GetValidCol()) * sizeof(typename Out::DType));
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
  check_equal(place, "the valid columns of bias", bias.GetValidCol(), "those of acc", acc.GetValidCol());
  issue(place, pipe_bit(PIPE_M), reads(left), reads(right), reads(bias), writes(acc));
  for (int row = 0; row < acc.GetValidRow(); ++row) {
    memcpy(element_at(acc, row, 0), bias.data(), static_cast<size_t>(acc.GetValidCol()) * sizeof(typename Acc::DType));
  }
  add_tile_product(acc, left, right);
  return {};
}
PTO_WITH_EVENTS(TMATMUL_BIAS)

}  // namespace pto
