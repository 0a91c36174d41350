// TMATMUL and its forms: acc = [in or bias +] left * right.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/events.hpp>
#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/matrix_product.hpp>
#include <pto/instructions/matrix_tiles.hpp>
#include <pto/instructions/operands.hpp>
#include <pto/instructions/transfer.hpp>
#include <pto/target/vector_loop.hpp>
#if defined(__CUDACC__)
#include <pto/target/cuda/warp_product.hpp>
#endif

namespace baton::kernel {

template <typename Acc, typename Left, typename Right>
constexpr AICORE void require_matmul() {
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
}

/// acc = [in or a row of bias +] left * right. `in` may be acc itself.
struct Product {
  TileView acc;
  TileView left;
  TileView right;

  PTO_INLINE AICORE int rows() const { return left.valid_rows; }
  PTO_INLINE AICORE int depth() const { return left.valid_cols; }
  PTO_INLINE AICORE int cols() const { return right.valid_cols; }
  PTO_INLINE AICORE TileUse part_of(const TileView& accumulator, BatonAccess access) const {
    return region_of(accumulator, access, 0, 0, rows(), cols());
  }
  /// What is read of right: as many rows as left has columns.
  PTO_INLINE AICORE TileUse factor() const { return region_of(right, BATON_READS, 0, 0, depth(), cols()); }
  /// Bytes of a band of an accumulator: 16 columns, of which the rows follow each other.
  PTO_INLINE AICORE size_t band_bytes() const {
    return static_cast<size_t>(rows() * acc.order.box_cols()) * acc.order.element_bytes;
  }
};

PTO_ONCE PTO_SHARED AICORE void check_product(const BatonPlace& place, const Product& product) {
  check_tile(place, "left", product.left);
  check_tile(place, "right", product.right);
  check_not_empty(place, "left", product.left);
  check_not_empty(place, "right", product.right);
  if (kChecks && product.right.valid_rows < product.depth()) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid columns of left are ", product.depth(),
         ", but right has only ", product.right.valid_rows, " valid rows");
  }
  // The valid size of acc says nothing: kernels multiply fewer rows or columns than they store.
  check_region(place, "acc", product.acc, product.rows(), product.cols());
}

/// acc = 0.
PTO_ONCE PTO_SHARED AICORE void begin_product(Where where, const Product& product) {
  const BatonPlace place = place_of("TMATMUL", where);
  check_product(place, product);
  issue(place, pipe_bit(PIPE_M), reads(product.left), product.factor(), product.part_of(product.acc, BATON_WRITES));
  if (kManyLanes) {
    TileView written = product.acc;
    written.valid_rows = product.rows();
    written.valid_cols = product.cols();
    constexpr int64_t kZero = 0;
    fill_on_lanes(written, &kZero);
  } else {
    for (int col = 0; col < product.cols(); col += product.acc.order.box_cols()) {
      memset(product.acc.at(0, col), 0, product.band_bytes());
    }
  }
}

/// acc = in.
PTO_ONCE PTO_SHARED AICORE void begin_product_onto(Where where, const Product& product, const TileView& in) {
  const BatonPlace place = place_of("TMATMUL_ACC", where);
  check_product(place, product);
  check_region(place, "in", in, product.rows(), product.cols());
  issue(place, pipe_bit(PIPE_M), reads(product.left), product.factor(), product.part_of(in, BATON_READS),
        product.part_of(product.acc, BATON_WRITES));
  if (product.acc.data == in.data) return;
  for (int col = 0; col < product.cols(); col += product.acc.order.box_cols()) {
    move_bytes(product.acc.at(0, col), in.at(0, col), product.band_bytes());
  }
}

/// Every row of acc = bias.
PTO_ONCE PTO_SHARED AICORE void begin_product_onto_bias(Where where, const Product& product, const TileView& bias) {
  const BatonPlace place = place_of("TMATMUL_BIAS", where);
  check_product(place, product);
  check_tile(place, "bias", bias);
  check_equal(place, "the valid columns of bias", bias.valid_cols, "those of right", product.cols());
  issue(place, pipe_bit(PIPE_M), reads(product.left), product.factor(), reads(bias),
        product.part_of(product.acc, BATON_WRITES));
  const int band = product.acc.order.box_cols();
  for (int col = 0; col < product.cols(); col += band) {
    const int here = product.cols() - col < band ? product.cols() - col : band;
    copy_lines(product.acc.at(0, col), int64_t{band} * bias.order.element_bytes,
               bias.data + int64_t{col} * bias.order.element_bytes, 0, product.rows(),
               int64_t{here} * bias.order.element_bytes);
  }
}

/// An element of acc for each lane.
template <typename Number, typename Element>
PTO_INLINE AICORE void add_product_on_lanes(const Product& product) {
  on_lanes([=](Lanes lanes) {
    for_cells(lanes, static_cast<uint32_t>(product.rows()), static_cast<uint32_t>(product.cols()),
              [&](uint32_t row, uint32_t col) PTO_INLINE_LAMBDA {
                auto* const to = reinterpret_cast<Number*>(product.acc.at(row, col));
                Number sum = *to;
                for (int k = 0; k < product.depth(); ++k) {
                  sum += static_cast<Number>(*reinterpret_cast<const Element*>(product.left.at(row, k))) *
                         static_cast<Number>(*reinterpret_cast<const Element*>(product.right.at(k, col)));
                }
                *to = sum;
              });
  });
}

/// acc(r, c) += sum over k of left(r, k) * right(k, c); all is checked, and the accumulator is where it lies.
template <typename Number, typename Element>
PTO_SHARED AICORE void add_tile_product(const Product& product) {
#if defined(__CUDACC__)
  if constexpr (is_factor<Element>) {
    cuda::add_product_on_warps<std::is_same_v<Element, bfloat16_t>>(product.acc, product.left, product.right);
    return;
  }
#endif
  if constexpr (kManyLanes) {
    add_product_on_lanes<Number, Element>(product);
    return;
  }
  const TileOrder& left = product.left.order;
  const Accumulator<Number> to{reinterpret_cast<Number*>(product.acc.data), product.acc.order.band};
  const LeftMatrix<Element> from{reinterpret_cast<const Element*>(product.left.data),
                                 left.bands_are_rows ? left.box() : left.band,
                                 left.bands_are_rows ? left.band : left.box()};
  const RightMatrix<Element> by{reinterpret_cast<const Element*>(product.right.data), product.right.order.band};
  add_product(to, from, by, product.rows(), product.depth(), product.cols());
}

template <typename Acc, typename Left, typename Right>
PTO_INLINE AICORE void multiply_tiles(const Acc& acc, const Left& left, const Right& right, Where where) {
  const Product product{acc, left, right};
  begin_product(where, product);
  settle_tiles<Left, Right>();
  add_tile_product<typename Acc::DType, typename Left::DType>(product);
}

template <typename Out, typename In, typename Left, typename Right>
PTO_INLINE AICORE void multiply_tiles_onto(const Out& out, const In& in, const Left& left, const Right& right,
                                           Where where) {
  const Product product{out, left, right};
  settle_tiles<Out>();
  begin_product_onto(where, product, in);
  add_tile_product<typename Out::DType, typename Left::DType>(product);
}

// What the matrix unit might have served: out of the way of what it does.
template <typename Acc, typename Left, typename Right>
PTO_OUTLINED AICORE void multiply_where_it_lies(Acc acc, Left left, Right right, Where where) {
  multiply_tiles(acc, left, right, where);
}
template <typename Out, typename In, typename Left, typename Right>
PTO_OUTLINED AICORE void multiply_onto_where_it_lies(Out out, In in, Left left, Right right, Where where) {
  multiply_tiles_onto(out, in, left, right, where);
}

}  // namespace baton::kernel

namespace pto {

template <typename Acc, typename Left, typename Right>
AICORE RecordEvent TMATMUL(Acc& acc, Left& left, Right& right,
                           baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  require_matmul<Acc, Left, Right>();
  if constexpr (kMatrixUnit) {
    if (!multiply_from_zero(acc, left, right)) [[unlikely]]
      multiply_where_it_lies(acc, left, right, where);
  } else {
    multiply_tiles(acc, left, right, where);
  }
  return {};
}
PTO_WITH_EVENTS(TMATMUL)

/// out = in + left * right.
template <typename Out, typename In, typename Left, typename Right>
requires(baton::kernel::is_tile<Right>) AICORE RecordEvent
    TMATMUL_ACC(Out& out, In& in, Left& left, Right& right,
                baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  static_assert(lies_in<In, TileType::Acc> && std::is_same_v<typename Out::DType, typename In::DType>,
                "TMATMUL_ACC: in is an Acc tile of out's element type");
  require_matmul<Out, Left, Right>();
  if constexpr (kMatrixUnit) {
    const bool is_same = out.data() == in.data() && static_cast<int>(Out::Rows) == static_cast<int>(In::Rows);
    if (!is_same || !multiply_onto(out, left, right)) [[unlikely]]
      multiply_onto_where_it_lies(out, in, left, right, where);
  } else {
    multiply_tiles_onto(out, in, left, right, where);
  }
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
  static_assert(lies_in<Bias, TileType::Bias> && Bias::Rows == 1 && Bias::ColStride == 1 &&
                    std::is_same_v<typename Acc::DType, typename Bias::DType>,
                "TMATMUL_BIAS: bias is a Bias tile of one row and acc's element type");
  require_matmul<Acc, Left, Right>();
  const Product product{acc, left, right};
  begin_product_onto_bias(where, product, bias);
  if (multiply_onto(acc, left, right)) return {};
  settle_tiles<Left, Right>();
  add_tile_product<typename Acc::DType, typename Left::DType>(product);
  return {};
}
PTO_WITH_EVENTS(TMATMUL_BIAS)

}  // namespace pto
