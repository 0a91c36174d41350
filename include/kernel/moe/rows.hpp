// Rows of any width, moved and added up through tiles.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <type_traits>

#include <collectives/tile_lines.hpp>
#include <pto/pto-inst.hpp>

namespace baton::moe {

inline constexpr int kPiece = collectives::kTileElements;
template <typename Element>
using Piece = collectives::LineTile<Element>;
using collectives::in_pieces;
using collectives::line_at;

/// to = from.
template <typename Element>
AICORE void copy_line(Element* to, const Element* from, int64_t count) {
  collectives::copy_line(reinterpret_cast<uint8_t*>(to), reinterpret_cast<const uint8_t*>(from),
                         count * static_cast<int64_t>(sizeof(Element)));
}

/// target_of(i) = from, for each i below `targets` whose target is not null. Loads nothing if all are.
template <typename Element, typename TargetOf>
AICORE void copy_line_to_each(const Element* from, int64_t count, int64_t targets, const TargetOf& target_of) {
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t here = count - first < kPiece ? count - first : int64_t{kPiece};
    Piece<Element> piece(here);
    TASSIGN(piece, 0);
    bool loaded = false;
    for (int64_t i = 0; i < targets; ++i) {
      Element* to = target_of(i);
      if (to == nullptr) continue;
      if (!loaded) {
        auto source = line_at(from + first, here);
        TLOAD(piece, source);
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        loaded = true;
      }
      auto target = line_at(to + first, here);
      TSTORE(target, piece);
    }
    if (!loaded) return;
    pipe_barrier(PIPE_ALL);  // the next piece takes its place
  }
}

/// The sum so far of a piece of a row, and room for the rows that come next, in the first kTileLineBytes bytes of the
/// unified buffer.
template <typename Element>
class WeightedSum {
 public:
  static constexpr int kLoads = 2;  // rows that are loaded before one waits for them

  AICORE explicit WeightedSum(int64_t count)
      : count_(count), sum_(count), wide_(count), loaded_{Piece<Element>(count), Piece<Element>(count)} {
    TASSIGN(sum_, 0);
    TASSIGN(wide_, kWideBytes);
    for (int turn = 0; turn < kLoads; ++turn) TASSIGN(loaded_[turn], kFirstLoad + turn * kLoadedBytes);
  }

  AICORE void load(int turn, const Element* row) {
    auto source = line_at(row, count_);
    TLOAD(loaded_[turn], source);
  }
  AICORE void wait_for_loads() const {
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  }
  AICORE void add(int turn, float weight) {
    if constexpr (kIsFloat) {
      add_scaled(loaded_[turn], weight);
    } else {
      TCVT(wide_, loaded_[turn], pto::RoundMode::CAST_NONE);
      add_scaled(wide_, weight);
    }
  }
  /// The next rows may be loaded.
  AICORE void make_room() const {
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  }
  AICORE void store(Element* to) {
    if (empty_) TEXPANDS(sum_, 0.0F);
    auto target = line_at(to, count_);
    if constexpr (kIsFloat) {
      wait_for_sum();
      TSTORE(target, sum_);
    } else {
      TCVT(loaded_[0], sum_, pto::RoundMode::CAST_RINT);
      wait_for_sum();
      TSTORE(target, loaded_[0]);
    }
  }

 private:
  static constexpr bool kIsFloat = std::is_same_v<Element, float>;
  static constexpr int kWideBytes = kPiece * static_cast<int>(sizeof(float));
  static constexpr int kLoadedBytes = kPiece * static_cast<int>(sizeof(Element));
  // Floats are calculated with where they are loaded.
  static constexpr int kFirstLoad = kIsFloat ? kWideBytes : 2 * kWideBytes;
  static_assert(kFirstLoad + kLoads * kLoadedBytes <= static_cast<int>(collectives::kTileLineBytes));

  AICORE void add_scaled(Piece<float>& row, float weight) {
    if (empty_) {
      TMULS(sum_, row, weight);
      TADDS(sum_, sum_, 0.0F);  // as if to zeros: -0 becomes 0
    } else {
      TAXPY(sum_, row, weight);
    }
    empty_ = false;
  }
  AICORE void wait_for_sum() const {
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  }

  int64_t count_;
  Piece<float> sum_;
  Piece<float> wide_;
  Piece<Element> loaded_[kLoads];
  bool empty_ = true;
};

/// to = the sum over k of weights[k] * row_of(k), calculated in float, in the order of k. A null row counts as zeros.
template <typename Element, typename RowOf>
AICORE void weighted_sum(Element* to, int64_t width, const float* weights, int64_t count, const RowOf& row_of) {
  in_pieces(width, [&](int64_t first, int64_t n) {
    WeightedSum<Element> sum(n);
    int64_t k = 0;
    while (k < count) {
      float by[WeightedSum<Element>::kLoads];
      int loads = 0;
      for (; k < count && loads < WeightedSum<Element>::kLoads; ++k) {
        const Element* row = row_of(k);
        if (row == nullptr) continue;
        sum.load(loads, row + first);
        by[loads++] = weights[k];
      }
      if (loads == 0) break;
      sum.wait_for_loads();
      for (int i = 0; i < loads; ++i) sum.add(i, by[i]);
      if (k < count) sum.make_room();
    }
    sum.store(to + first);
  });
}

}  // namespace baton::moe
