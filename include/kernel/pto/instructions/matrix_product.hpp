// The product of two matrices that are stored row by row, added to a third one.
//
// The right matrix is packed, a panel of a few vectors' width at a time; a block of rows by that width is then held in
// registers while the common dimension is walked through. Elements that are not calculated with are widened when
// packed.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/numbers.hpp>

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

/// targets[i][j] += rows[i] * column j of the panel, over `depth` steps. The sums stay in registers meanwhile.
template <typename Number>
PTO_INLINE AICORE void multiply_block(Number* const (&targets)[kBlockRows], const Number* const (&rows)[kBlockRows],
                                      const Number* panel, int depth) {
  using Block = MatrixBlock<Number>;
  using Vector = typename Block::Vector;
  Vector sum[kBlockRows][kPanelVectors];
  PTO_UNROLL
  for (int i = 0; i < kBlockRows; ++i) {
    PTO_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) memcpy(&sum[i][j], targets[i] + j * Block::kLanes, sizeof(Vector));
  }
  for (int k = 0; k < depth; ++k) {
    Vector right[kPanelVectors];
    PTO_UNROLL
    for (int j = 0; j < kPanelVectors; ++j)
      memcpy(&right[j], panel + k * Block::kPanelCols + j * Block::kLanes, sizeof(Vector));
    PTO_UNROLL
    for (int i = 0; i < kBlockRows; ++i) {
      const Number left = rows[i][k];
      PTO_UNROLL
      for (int j = 0; j < kPanelVectors; ++j) sum[i][j] += left * right[j];
    }
  }
  PTO_UNROLL
  for (int i = 0; i < kBlockRows; ++i) {
    PTO_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) memcpy(targets[i] + j * Block::kLanes, &sum[i][j], sizeof(Vector));
  }
}

/// A matrix in memory: element (r, c) is data[r * pitch + c].
template <typename Element>
struct MatrixView {
  Element* data;
  int pitch;
};

/// Columns [first, first + cols) of `depth` rows, widened, with zeros up to the panel's width.
template <typename Number, typename Element>
AICORE void pack_panel(Number* panel, MatrixView<const Element> right, int first_row, int depth, int first, int cols) {
  constexpr int kPanelCols = MatrixBlock<Number>::kPanelCols;
  for (int k = 0; k < depth; ++k) {
    const Element* from = right.data + static_cast<int64_t>(first_row + k) * right.pitch + first;
    Number* to = panel + static_cast<int64_t>(k) * kPanelCols;
    if (cols == kPanelCols) {
      for (int c = 0; c < kPanelCols; ++c) to[c] = static_cast<Number>(from[c]);
    } else {
      for (int c = 0; c < kPanelCols; ++c) to[c] = c < cols ? static_cast<Number>(from[c]) : Number{0};
    }
  }
}

/// acc += left * right; acc is m x n, left m x depth.
template <typename Number, typename Element>
AICORE void add_product(MatrixView<Number> acc, MatrixView<const Element> left, MatrixView<const Element> right, int m,
                        int depth, int n) {
  using Block = MatrixBlock<Number>;
  constexpr bool kWiden = !std::is_same_v<Number, Element>;
  alignas(64) Number panel[Block::kDepth * Block::kPanelCols];
  Number edge[kBlockRows][Block::kPanelCols] = {};  // stands in for what lies outside acc
  Number widened_rows[kWiden ? kBlockRows : 1][kWiden ? Block::kDepth : 1];
  for (int k0 = 0; k0 < depth; k0 += Block::kDepth) {
    const int steps = depth - k0 < Block::kDepth ? depth - k0 : Block::kDepth;
    for (int col = 0; col < n; col += Block::kPanelCols) {
      const int cols = n - col < Block::kPanelCols ? n - col : Block::kPanelCols;
      const auto bytes = static_cast<size_t>(cols) * sizeof(Number);
      const bool whole_panel = cols == Block::kPanelCols;
      pack_panel(panel, right, k0, steps, col, cols);
      for (int row = 0; row < m; row += kBlockRows) {
        const int rows = m - row < kBlockRows ? m - row : kBlockRows;
        const Number* lines[kBlockRows];
        Number* targets[kBlockRows];
        for (int i = 0; i < kBlockRows; ++i) {
          const int line = row + (i < rows ? i : rows - 1);  // past the end: the last row again, to no effect
          const Element* from = left.data + static_cast<int64_t>(line) * left.pitch + k0;
          Number* to = acc.data + static_cast<int64_t>(line) * acc.pitch + col;
          if constexpr (kWiden) {
            for (int k = 0; k < steps; ++k) widened_rows[i][k] = static_cast<Number>(from[k]);
            lines[i] = widened_rows[i];
          } else {
            lines[i] = from;
          }
          targets[i] = whole_panel && i < rows ? to : edge[i];
          if (!whole_panel) memcpy(edge[i], to, bytes);
        }
        multiply_block<Number>(targets, lines, panel, steps);
        for (int i = 0; i < rows && !whole_panel; ++i) {
          memcpy(acc.data + static_cast<int64_t>(row + i) * acc.pitch + col, edge[i], bytes);
        }
      }
    }
  }
}

}  // namespace baton::kernel
