// Loads, moves, products and stores that the matrix unit of a GPU serves (pto/target/matrix_unit.hpp), as types and a
// few comparisons tell. False: the instruction goes the long way, which checks everything and says what is wrong.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/global_tensor.hpp>
#include <pto/common/tile.hpp>
#include <pto/instructions/global_access.hpp>
#include <pto/instructions/one_line.hpp>
#include <pto/target/matrix_unit.hpp>

#if defined(__CUDACC__)
#include <pto/target/cuda/matrix_unit.hpp>
#endif

namespace baton::kernel {

/// Tiles whose boxes the matrix unit's form replaces: lines of 16 elements, band after band.
template <typename TileData>
inline constexpr bool is_operand_tile = kMatrixUnit&& TileData::isBoxedLayout&& TileData::SFractalSize == 512 &&
                                        sizeof(typename TileData::DType) == 2 && TileData::Rows % 16 == 0 &&
                                        TileData::isRowMajor == (TileData::SFractal == pto::SLayout::ColMajor);

/// Before an instruction that looks at tiles of these types where they lie.
template <typename... Tiles>
PTO_INLINE AICORE void settle_tiles() {
  if constexpr (kMatrixUnit && (!lies_in<Tiles, pto::TileType::Vec> || ...)) settle_matrices();
}

#if defined(__CUDACC__)

/// Bytes from the beginning of its buffer.
template <typename TileData>
PTO_INLINE __device__ uint32_t place_of_tile(const TileData& tile) {
  constexpr auto kBytes = static_cast<uint32_t>(cuda::kBufferBytes[static_cast<uint32_t>(TileData::Loc)]);
  return kBytes - static_cast<uint32_t>(tile.room_bytes());
}

/// Whether a tile of fixed place holds its type from there on.
template <typename TileData>
PTO_INLINE __device__ bool holds_all(const TileData& tile) {
  constexpr int64_t kBytes = int64_t{TileData::Rows} * TileData::Cols * int64_t{sizeof(typename TileData::DType)};
  return kBytes <= tile.room_bytes();
}

template <typename TileData, typename GlobalData>
PTO_INLINE __device__ bool load_operand(TileData& tile, GlobalData& tensor) {
  if constexpr (!is_operand_tile<TileData> || !lies_in<TileData, pto::TileType::Mat> ||
                (GlobalData::layout != pto::Layout::ND && GlobalData::layout != pto::Layout::DN)) {
    return false;
  } else {
    constexpr bool kByRows = GlobalData::layout == pto::Layout::ND;
    const int64_t lines = tensor.GetShape(kByRows ? 3 : 4);
    const int64_t length = tensor.GetShape(kByRows ? 4 : 3);
    const int64_t pitch = tensor.GetStride(kByRows ? 3 : 4) * 2;
    const bool is_matrix = tensor.GetShape(0) == 1 && tensor.GetShape(1) == 1 && tensor.GetShape(2) == 1 &&
                           (tensor.GetStride(kByRows ? 4 : 3) == 1 || length == 1);
    const bool is_whole = (kByRows ? tile.GetValidRow() : tile.GetValidCol()) == lines &&
                          (kByRows ? tile.GetValidCol() : tile.GetValidRow()) == length && lines > 0 && length > 0;
    const auto memory = reinterpret_cast<uint64_t>(tensor.data());
    constexpr int64_t kLongestPitch = int64_t{1} << 31;
    if (!is_matrix || !is_whole || !holds_all(tile) || (memory | static_cast<uint64_t>(pitch)) % 16 != 0 ||
        pitch <= 0 || pitch >= kLongestPitch) {
      return false;
    }
    constexpr uint32_t kLines = kByRows ? TileData::Rows : TileData::Cols;
    constexpr uint32_t kLength = kByRows ? TileData::Cols : TileData::Rows;
    return cuda::load_kept(
        reinterpret_cast<const unsigned char*>(memory),
        {place_of_tile(tile), cuda::pair_of(kLines, kLength),
         cuda::pair_of(static_cast<uint32_t>(lines), static_cast<uint32_t>(length)), static_cast<uint32_t>(pitch)});
  }
}

/// TMOV and TEXTRACT from Mat to Left or Right.
template <typename Dst, typename Src>
PTO_INLINE __device__ bool view_operand(Dst& dst, Src& src, uint32_t row0, uint32_t col0) {
  using enum pto::TileType;
  if constexpr (!lies_in<Src, Mat> || !lies_in<Dst, Left, Right> || !is_operand_tile<Src> || !is_operand_tile<Dst> ||
                !std::is_same_v<typename Dst::DType, typename Src::DType>) {
    return false;
  } else {
    constexpr bool kByRows = Src::SFractal == pto::SLayout::RowMajor;
    constexpr bool kLeft = lies_in<Dst, Left>;
    if constexpr (kLeft && !kByRows) {
      return false;  // left by columns
    } else {
      if (!holds_all(dst) || !holds_all(src)) return false;
      const int rows = dst.GetValidRow();
      const int cols = dst.GetValidCol();
      if (rows <= 0 || cols <= 0 || rows > Src::Rows - static_cast<int>(row0) ||
          cols > Src::Cols - static_cast<int>(col0)) {
        return false;
      }
      using cuda::pair_of;
      const auto count = static_cast<uint32_t>(kLeft ? rows : cols);
      const auto depth = static_cast<uint32_t>(kLeft ? cols : rows);
      const cuda::WantedView wanted{place_of_tile(dst),
                                    place_of_tile(src),
                                    {kLeft ? pair_of(Dst::Rows, Dst::Cols) : pair_of(Dst::Cols, Dst::Rows),
                                     pair_of(count, depth), kByRows ? pair_of(row0, col0) : pair_of(col0, row0),
                                     kByRows ? pair_of(Src::Rows, Src::Cols) : pair_of(Src::Cols, Src::Rows)}};
      return cuda::make_view < kLeft ? 0 : 1, !kLeft && kByRows > (wanted);
    }
  }
}

/// acc = left * right, or acc += left * right.
template <cuda::Begins begins, typename Acc, typename Left, typename Right>
PTO_INLINE __device__ bool multiply_operands(Acc& acc, Left& left, Right& right) {
  using Element = typename Left::DType;
  if constexpr (!is_factor<Element>) {
    return false;
  } else {
    const int rows = left.GetValidRow();
    const int depth = left.GetValidCol();
    const int cols = right.GetValidCol();
    if (rows <= 0 || depth <= 0 || cols <= 0 || right.GetValidRow() < depth || rows > Acc::Rows || cols > Acc::Cols ||
        !holds_all(acc)) {
      return false;
    }
    return cuda::post_product<std::is_same_v<Element, bfloat16_t>, begins>(
        {place_of_tile(acc), Acc::Rows, place_of_tile(left), cuda::pair_of(Left::Rows, Left::Cols),
         cuda::pair_of(static_cast<uint32_t>(rows), static_cast<uint32_t>(depth)), place_of_tile(right),
         cuda::pair_of(Right::Cols, Right::Rows),
         cuda::pair_of(static_cast<uint32_t>(cols), static_cast<uint32_t>(depth))});
  }
}
template <typename Acc, typename Left, typename Right>
PTO_INLINE __device__ bool multiply_from_zero(Acc& acc, Left& left, Right& right) {
  return multiply_operands<cuda::Begins::at_zero>(acc, left, right);
}
template <typename Acc, typename Left, typename Right>
PTO_INLINE __device__ bool multiply_onto(Acc& acc, Left& left, Right& right) {
  return multiply_operands<cuda::Begins::at_accumulator>(acc, left, right);
}

/// What TSTORE from Acc stores, if the sums are in registers; all is checked.
template <pto::AtomicType atomic, typename Element, typename TileData>
PTO_INLINE __device__ bool store_accumulator(const TileData& tile, const GlobalView& tensor) {
  if constexpr (!lies_in<TileData, pto::TileType::Acc> || atomic != pto::AtomicType::AtomicNone ||
                !std::is_same_v<typename TileData::DType, float> || !is_one_of<Element, float, half, bfloat16_t>) {
    return false;
  } else {
    const int64_t* const shape = tensor.extents.shape;
    if (tensor.layout != pto::Layout::ND || shape[0] * shape[1] * shape[2] != 1 || !has_lines_apart(tensor) ||
        !cuda::has_sums(place_of_tile(tile), TileData::Rows, static_cast<uint32_t>(tile.GetValidRow()),
                        static_cast<uint32_t>(tile.GetValidCol()))) {
      return false;
    }
    cuda::store_sums(tensor.data, tensor.extents.stride[3], static_cast<uint32_t>(tile.GetValidRow()),
                     static_cast<uint32_t>(tile.GetValidCol()),
                     std::is_same_v<Element, float>  ? cuda::MatrixWork::store_float
                     : std::is_same_v<Element, half> ? cuda::MatrixWork::store_half
                                                     : cuda::MatrixWork::store_bfloat16);
    return true;
  }
}

#else

template <typename TileData, typename GlobalData>
PTO_INLINE bool load_operand(TileData& /*tile*/, GlobalData& /*tensor*/) {
  return false;
}
template <typename Dst, typename Src>
PTO_INLINE bool view_operand(Dst& /*dst*/, Src& /*src*/, uint32_t /*row0*/, uint32_t /*col0*/) {
  return false;
}
template <typename Acc, typename Left, typename Right>
PTO_INLINE bool multiply_from_zero(Acc& /*acc*/, Left& /*left*/, Right& /*right*/) {
  return false;
}
template <typename Acc, typename Left, typename Right>
PTO_INLINE bool multiply_onto(Acc& /*acc*/, Left& /*left*/, Right& /*right*/) {
  return false;
}
template <pto::AtomicType atomic, typename Element, typename TileData>
PTO_INLINE bool store_accumulator(const TileData& /*tile*/, const GlobalView& /*tensor*/) {
  return false;
}

#endif

}  // namespace baton::kernel
