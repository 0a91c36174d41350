// The product of two matrices in the boxes of the matrix unit, added to a third one.
//
// The right matrix is packed, a panel of a few vectors' width at a time; a block of rows by that width is then held in
// registers while the common dimension is walked through. Elements that are not calculated with are widened when
// packed.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/numbers.hpp>
#include <pto/target/transpose.hpp>

namespace baton::kernel {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr int kBlockRows = 6;
inline constexpr int kPanelVectors = 4;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kBlockRows = 6;
inline constexpr int kPanelVectors = 2;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kBlockRows = 4;
inline constexpr int kPanelVectors = 4;
#endif

template <typename Number>
struct MatrixBlock {
#if defined(__CUDACC__)
  using Vector = Number;  // a thread of a GPU is one lane
#else
  typedef Number Vector __attribute__((vector_size(kVectorBytes)));
#endif
  static constexpr int kLanes = int{sizeof(Vector)} / int{sizeof(Number)};
  static constexpr int kPanelCols = kLanes * kPanelVectors;
  static constexpr int kDepth = 128;  // of the common dimension at a time: the panel stays in the nearest cache
};

/// The accumulator: 16 columns side by side, row after row; the next 16 columns lie `band` elements further.
template <typename Number>
struct Accumulator {
  static constexpr int kCols = 16;
  Number* data;
  int64_t band;
};

/// The left matrix: a few columns side by side (32 bytes); the next ones of a row lie `chunk` elements further. Rows
/// follow each other, up to 16 of them or all; the next 16 lie `rows16` elements further.
template <typename Element>
struct LeftMatrix {
  static constexpr int kCols = 32 / int{sizeof(Element)};
  const Element* data;
  int64_t chunk;
  int64_t rows16;

  PTO_INLINE AICORE const Element* row(int64_t r) const { return data + r / 16 * rows16 + r % 16 * kCols; }
};

/// The right matrix: a few rows side by side (32 bytes), column after column; the next rows lie `band` elements
/// further.
template <typename Element>
struct RightMatrix {
  static constexpr int kRows = 32 / int{sizeof(Element)};
  const Element* data;
  int64_t band;

  PTO_INLINE AICORE const Element* at(int64_t k, int64_t col) const {
    return data + k / kRows * band + col * kRows + k % kRows;
  }
};

/// Steps that a block of rows takes at once: neighbours in every left matrix.
inline constexpr int kSteps = 8;

/// The rows of a block, `chunk` elements from each kSteps of them to the next.
template <typename Number>
struct BlockRows {
  const Number* first[kBlockRows];
  int64_t chunk;
};

template <typename Number>
struct BlockTargets {
  Number* first[kBlockRows];
  int64_t band;

  PTO_INLINE AICORE Number* at(int row, int col) const {
    return first[row] + col / Accumulator<Number>::kCols * band + col % Accumulator<Number>::kCols;
  }
};

/// sum[i] += rows[i] * the panel's row, for one step of the common dimension.
template <typename Number, typename Sums>
PTO_INLINE AICORE void add_step(Sums& sum, const BlockRows<Number>& rows, int64_t at, const Number* panel_row) {
  using Block = MatrixBlock<Number>;
  typename Block::Vector right[kPanelVectors];
  PTO_UNROLL
  for (int j = 0; j < kPanelVectors; ++j) memcpy(&right[j], panel_row + j * Block::kLanes, sizeof right[j]);
  PTO_UNROLL
  for (int i = 0; i < kBlockRows; ++i) {
    const Number left = rows.first[i][at];
    PTO_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) sum[i][j] += left * right[j];
  }
}

/// targets[i][j] += rows[i] * column j of the panel, over `depth` steps. The sums stay in registers meanwhile.
template <typename Number>
PTO_INLINE AICORE void multiply_block(const BlockTargets<Number>& targets, const BlockRows<Number>& rows,
                                      const Number* panel, int depth) {
  using Block = MatrixBlock<Number>;
  using Vector = typename Block::Vector;
  Vector sum[kBlockRows][kPanelVectors];
  PTO_UNROLL
  for (int i = 0; i < kBlockRows; ++i) {
    PTO_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) memcpy(&sum[i][j], targets.at(i, j * Block::kLanes), sizeof(Vector));
  }
  int k = 0;
  int64_t at = 0;
  for (; k + kSteps <= depth; k += kSteps, at += rows.chunk) {
    for (int step = 0; step < kSteps; ++step) {
      add_step<Number>(sum, rows, at + step, panel + (k + step) * Block::kPanelCols);
    }
  }
  for (int step = 0; k + step < depth; ++step) {
    add_step<Number>(sum, rows, at + step, panel + (k + step) * Block::kPanelCols);
  }
  PTO_UNROLL
  for (int i = 0; i < kBlockRows; ++i) {
    PTO_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) memcpy(targets.at(i, j * Block::kLanes), &sum[i][j], sizeof(Vector));
  }
}

/// Eight columns of eight rows of the right matrix as eight rows of the panel.
template <typename Number, typename Element>
PTO_INLINE AICORE void pack_block(Number* panel, const Element* from) {
  constexpr int kPanelCols = MatrixBlock<Number>::kPanelCols;
  constexpr int kPitch = RightMatrix<Element>::kRows;
  if constexpr (std::is_same_v<Number, Element>) {
    transpose_block<kSteps>(panel, kPanelCols, from, kPitch);
  } else {
    Number wide[kSteps * kSteps];
    for (int c = 0; c < kSteps; ++c) {
      for (int k = 0; k < kSteps; ++k) wide[c * kSteps + k] = static_cast<Number>(from[c * kPitch + k]);
    }
    transpose_block<kSteps>(panel, kPanelCols, static_cast<const Number*>(wide), kSteps);
  }
}

/// Columns [first, first + cols) of `depth` rows, widened, with zeros up to the panel's width.
template <typename Number, typename Element>
AICORE void pack_panel(Number* panel, const RightMatrix<Element>& right, int first_row, int depth, int first,
                       int cols) {
  constexpr int kPanelCols = MatrixBlock<Number>::kPanelCols;
  for (int k = 0; k < depth; k += kSteps) {
    const int rows = depth - k < kSteps ? depth - k : kSteps;
    int c = 0;
    for (; rows == kSteps && c + kSteps <= cols; c += kSteps) {
      pack_block(panel + k * kPanelCols + c, right.at(first_row + k, first + c));
    }
    for (int step = 0; step < rows; ++step) {
      Number* to = panel + (k + step) * kPanelCols;
      for (int at = c; at < kPanelCols; ++at) {
        to[at] = at < cols ? static_cast<Number>(*right.at(first_row + k + step, first + at)) : Number{0};
      }
    }
  }
}

/// Where the rows of a block, row by row from `row` on, lie from step k0 on; past the end: the last row again, to no
/// effect. `widened` holds them if they are not calculated with as they are.
template <typename Number, typename Element, typename Widened>
PTO_INLINE AICORE BlockRows<Number> rows_of_block(const LeftMatrix<Element>& left, int row, int rows, int k0, int steps,
                                                  Widened& widened) {
  BlockRows<Number> block;
  for (int i = 0; i < kBlockRows; ++i) {
    const Element* from = left.row(row + (i < rows ? i : rows - 1)) + k0 / LeftMatrix<Element>::kCols * left.chunk;
    if constexpr (std::is_same_v<Number, Element>) {
      static_assert(LeftMatrix<Element>::kCols == kSteps);
      block.first[i] = from;
      block.chunk = left.chunk;
    } else {
      constexpr int kCols = LeftMatrix<Element>::kCols;
      for (int k = 0; k < steps; k += kCols, from += left.chunk) {
        for (int c = 0; c < kCols; ++c) widened[i][k + c] = static_cast<Number>(from[c]);
      }
      block.first[i] = widened[i];
      block.chunk = kSteps;
    }
  }
  return block;
}

/// acc += left * right; acc is m x n, left m x depth.
template <typename Number, typename Element>
AICORE void add_product(const Accumulator<Number>& acc, const LeftMatrix<Element>& left,
                        const RightMatrix<Element>& right, int m, int depth, int n) {
  using Block = MatrixBlock<Number>;
  constexpr int kAccCols = Accumulator<Number>::kCols;
  constexpr bool kWiden = !std::is_same_v<Number, Element>;
  alignas(64) Number panel[Block::kDepth * Block::kPanelCols];
  Number edge[kBlockRows][Block::kPanelCols] = {};  // stands in for a block that reaches over the end of acc
  Number widened[kWiden ? kBlockRows : 1][kWiden ? Block::kDepth : 1];
  for (int k0 = 0; k0 < depth; k0 += Block::kDepth) {
    const int steps = depth - k0 < Block::kDepth ? depth - k0 : Block::kDepth;
    for (int col = 0; col < n; col += Block::kPanelCols) {
      const int cols = n - col < Block::kPanelCols ? n - col : Block::kPanelCols;
      pack_panel(panel, right, k0, steps, col, cols);
      Number* const acc_cols = acc.data + col / kAccCols * acc.band + col % kAccCols;
      for (int row = 0; row < m; row += kBlockRows) {
        const int rows = m - row < kBlockRows ? m - row : kBlockRows;
        const BlockRows<Number> lines = rows_of_block<Number>(left, row, rows, k0, steps, widened);
        BlockTargets<Number> targets;
        targets.band = acc.band;
        for (int i = 0; i < kBlockRows; ++i) targets.first[i] = acc_cols + int64_t{row + i} * kAccCols;
        const bool whole = rows == kBlockRows && cols == Block::kPanelCols;
        BlockTargets<Number> aside = targets;
        const auto exchange = [&](const BlockTargets<Number>& to, const BlockTargets<Number>& from) {
          for (int i = 0; i < rows; ++i) {
            for (int c = 0; c < cols; ++c) *to.at(i, c) = *from.at(i, c);
          }
        };
        if (!whole) {
          aside.band = kAccCols;
          for (int i = 0; i < kBlockRows; ++i) aside.first[i] = edge[i];
          exchange(aside, targets);
        }
        multiply_block<Number>(aside, lines, panel, steps);
        if (!whole) exchange(targets, aside);
      }
    }
  }
}

}  // namespace baton::kernel
