// Values in and out of tiles, and where they come from.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <pto/pto-inst.hpp>

namespace baton::test {

/// For what counts without a sign.
inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

template <typename Element>
using Matrix = std::vector<std::vector<Element>>;

template <typename Element>
bool same_bits(Element a, Element b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Bit for bit, except that all NaNs are alike: which payload an operation keeps is the processor's choice.
template <typename Element>
bool same_value(Element a, Element b) {
  if constexpr (!std::is_integral_v<Element>) {
    if (std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b))) return true;
  }
  return same_bits(a, b);
}

/// Numbers of an element type: mostly small ones, some extremes.
class Values {
 public:
  explicit Values(std::uint32_t seed) : random_(seed) {}

  template <typename Element>
  Element next() {
    const auto kind = random_() % 16;
    if constexpr (std::is_integral_v<Element>) {
      if (kind == 0) return std::numeric_limits<Element>::max();
      if (kind == 1) return std::numeric_limits<Element>::min();
      if (kind < 4) return static_cast<Element>((std::uint64_t{random_()} << 32) | random_());
      return static_cast<Element>(static_cast<std::int64_t>(random_() % 200) - (std::is_signed_v<Element> ? 100 : 0));
    } else {
      const float extremes[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 65504.0f, 6e-8f, 3.4e38f, 1e-40f};
      if (kind == 0) return static_cast<Element>(extremes[random_() % std::size(extremes)]);
      return static_cast<Element>((static_cast<float>(random_() % 20000) - 10000.0f) / 64.0f);
    }
  }

  /// Without extremes.
  template <typename Element>
  Element next_moderate() {
    return static_cast<Element>((static_cast<float>(random_() % 2000) - 1000.0f) / 64.0f);
  }

  template <typename Element>
  Matrix<Element> matrix(int rows, int cols) {
    Matrix<Element> result(static_cast<std::size_t>(rows), std::vector<Element>(static_cast<std::size_t>(cols)));
    for (auto& row : result) {
      for (auto& value : row) value = next<Element>();
    }
    return result;
  }

  template <typename Element>
  Matrix<Element> moderate_matrix(int rows, int cols) {
    auto result = matrix<Element>(rows, cols);
    for (auto& row : result) {
      for (auto& value : row) value = next_moderate<Element>();
    }
    return result;
  }

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

 private:
  std::mt19937 random_;
};

template <typename TileData>
typename TileData::DType& element(TileData& tile, int row, int col) {
  return *baton::kernel::element_at(tile, row, col);
}

template <typename TileData>
void write_valid(TileData& tile, const Matrix<typename TileData::DType>& values) {
  for (int row = 0; row < tile.GetValidRow(); ++row) {
    for (int col = 0; col < tile.GetValidCol(); ++col) {
      element(tile, row, col) = values[static_cast<std::size_t>(row)][static_cast<std::size_t>(col)];
    }
  }
}

template <typename TileData>
Matrix<typename TileData::DType> read_valid(TileData& tile) {
  Matrix<typename TileData::DType> values(static_cast<std::size_t>(tile.GetValidRow()));
  for (int row = 0; row < tile.GetValidRow(); ++row) {
    for (int col = 0; col < tile.GetValidCol(); ++col) {
      values[static_cast<std::size_t>(row)].push_back(element(tile, row, col));
    }
  }
  return values;
}

template <typename Element>
::testing::AssertionResult equal_values(const Matrix<Element>& got, const Matrix<Element>& wanted) {
  if (got.size() != wanted.size()) return ::testing::AssertionFailure() << got.size() << " rows, not " << wanted.size();
  for (std::size_t r = 0; r < got.size(); ++r) {
    for (std::size_t c = 0; c < got[r].size(); ++c) {
      if (same_value(got[r][c], wanted[r][c])) continue;
      return ::testing::AssertionFailure() << "(" << r << ", " << c << "): " << static_cast<double>(got[r][c])
                                           << ", not " << static_cast<double>(wanted[r][c]);
    }
  }
  return ::testing::AssertionSuccess();
}

/// A Vec tile of E, R x C, whose valid size is given at run time.
template <typename Element, int Rows, int Cols>
using VecTile = pto::Tile<pto::TileType::Vec, Element, Rows, Cols, pto::BLayout::RowMajor, pto::DYNAMIC, pto::DYNAMIC>;

}  // namespace baton::test
