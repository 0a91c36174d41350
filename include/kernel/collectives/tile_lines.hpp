// Lines of any length through tiles: copied, or several of them combined element by element.
//
// They use the first kTileLineBytes bytes of the unified buffer, and have finished when they return.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <baton/collective_types.hpp>
#include <pto/comm/put_get.hpp>
#include <pto/pto-inst.hpp>

namespace baton::collectives {

inline constexpr int kTileElements = 4096;
inline constexpr uint32_t kTileLineBytes = 3 * kTileElements * sizeof(float);

template <typename Element>
using LineTile = pto::Tile<pto::TileType::Vec, Element, 1, kTileElements, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;
using ByteTile = pto::Tile<pto::TileType::Vec, uint8_t, 1, kTileElements * 4, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;

template <typename Element>
AICORE inline auto line_at(Element* data, int64_t count) {
  using LineShape = pto::Shape<1, 1, 1, 1, pto::DYNAMIC>;
  using LineStride = pto::Stride<1, 1, 1, 1, 1>;
  return pto::GlobalTensor<Element, LineShape, LineStride>(data, LineShape(count), LineStride());
}

/// Calls body(first, count) for each piece of a line that a tile holds. All before a piece is finished when it begins,
/// and when this returns.
template <typename Body>
AICORE inline void in_pieces(int64_t count, const Body& body) {
  for (int64_t first = 0; first < count; first += kTileElements) {
    body(first, count - first < kTileElements ? count - first : int64_t{kTileElements});
    pipe_barrier(PIPE_ALL);
  }
}

/// to = from, either of which may lie in the window of a peer. While one tile is stored, the next one is loaded.
AICORE inline void copy_line(uint8_t* to, const uint8_t* from, int64_t bytes) {
  if (bytes > 0) {
    ByteTile ping(ByteTile::Cols), pong(ByteTile::Cols);
    TASSIGN(ping, 0);
    TASSIGN(pong, ByteTile::Cols);
    auto source = line_at(from, bytes);
    auto target = line_at(to, bytes);
    pto::comm::TPUT(target, source, ping, pong);
  }
  pipe_barrier(PIPE_ALL);
}

/// Gives the address of source `index`.
struct LineSource {
  const void* context;
  const std::byte* (*address)(const void* context, int index);
};

template <typename Tile>
AICORE inline void apply(ReduceOp op, Tile& sum, Tile& next) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg: TADD(sum, sum, next); return;
    case ReduceOp::prod: TMUL(sum, sum, next); return;
    case ReduceOp::min: TMIN(sum, sum, next); return;
    case ReduceOp::max: TMAX(sum, sum, next); return;
    case ReduceOp::bit_and:
    case ReduceOp::bit_or:
    case ReduceOp::bit_xor: return;  // can_combine() refuses them
  }
}

/// Elements that the vector unit calculates with as they are, and those that it widens first: these are rounded once,
/// when the result is stored.
template <typename Element>
inline constexpr bool is_widened = baton::kernel::is_one_of<Element, half, bfloat16_t>;

/// One piece of combine_lines(). Sources are loaded in turns into two tiles behind the result.
template <typename Element>
AICORE inline void combine_piece(Element* to, int sources, const LineSource& source, int64_t first, int64_t count,
                                 ReduceOp op, uint32_t divisor) {
  using Wide = std::conditional_t<is_widened<Element>, float, Element>;
  constexpr int kWideBytes = kTileElements * static_cast<int>(sizeof(Wide));
  constexpr int kNarrowBytes = kTileElements * static_cast<int>(sizeof(Element));
  LineTile<Wide> sum(count), wide(count);
  TASSIGN(sum, 0);
  TASSIGN(wide, kWideBytes);
  constexpr int kLoads = is_widened<Element> ? 2 * kWideBytes : kWideBytes;
  for (int index = 0; index < sources; ++index) {
    const int turn = index % 2;
    LineTile<Element> loaded(count);
    // The first one is the result so far, where it need not be widened.
    TASSIGN(loaded, index == 0 && !is_widened<Element> ? 0 : kLoads + turn * kNarrowBytes);
    auto line = line_at(reinterpret_cast<const Element*>(source.address(source.context, index)) + first, count);
    if (index >= 2) wait_flag(PIPE_V, PIPE_MTE2, turn);
    TLOAD(loaded, line);
    set_flag(PIPE_MTE2, PIPE_V, turn);
    wait_flag(PIPE_MTE2, PIPE_V, turn);
    if constexpr (is_widened<Element>) {
      TCVT(index == 0 ? sum : wide, loaded, pto::RoundMode::CAST_NONE);
      if (index > 0) apply(op, sum, wide);
    } else {
      if (index > 0) apply(op, sum, loaded);
    }
    if (index + 2 < sources) set_flag(PIPE_V, PIPE_MTE2, turn);
  }
  if constexpr (std::is_same_v<Wide, float>) {
    if (divisor > 1) TDIVS(sum, sum, static_cast<float>(divisor));
  }
  auto target = line_at(to + first, count);
  if constexpr (is_widened<Element>) {
    LineTile<Element> narrow(count);
    TASSIGN(narrow, kLoads);
    TCVT(narrow, sum, pto::RoundMode::CAST_RINT);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(target, narrow);
  } else {
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(target, sum);
  }
  pipe_barrier(PIPE_ALL);
}

/// to = source 0 op source 1 op ..., in this order; `to` may be one of them.
template <typename Element>
AICORE inline void combine_lines(Element* to, int sources, const LineSource& source, int64_t count, ReduceOp op,
                                 uint32_t divisor) {
  for (int64_t first = 0; first < count; first += kTileElements) {
    combine_piece(to, sources, source, first, count - first < kTileElements ? count - first : kTileElements, op,
                  divisor);
  }
}

}  // namespace baton::collectives
