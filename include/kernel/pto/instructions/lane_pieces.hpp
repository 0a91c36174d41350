// Elements as many lanes take them: 16 bytes at once, neighbours beside each other.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stddef.h>
#include <string.h>
#include <pto/instructions/numbers.hpp>
#include <pto/target/lanes.hpp>

namespace baton::kernel {

/// Where the elements for each row are. `pitch` counts elements from row to row; 0 for the same in all rows.
struct Source {
  const void* data;
  int64_t pitch;
  int32_t period;  // how many elements repeat through a row: 1, those of 32 bytes, or 0 for a line of them
};

/// rows x cols elements to be written from one or two sources.
struct Work {
  void* dst;
  int64_t pitch;
  int32_t rows;
  int32_t cols;
  Source first;
  Source second;
};

inline constexpr uint32_t kLaneBytes = 16;
template <typename Element>
inline constexpr uint32_t kLanePiece = kLaneBytes / sizeof(Element);

/// Elements of any type, moved by one access.
struct __attribute__((may_alias, aligned(kLaneBytes))) LaneBytes {
  uint32_t words[kLaneBytes / sizeof(uint32_t)];
};

PTO_INLINE AICORE bool is_wide(const void* data, int64_t pitch_bytes) {
  return (reinterpret_cast<uintptr_t>(data) | static_cast<uintptr_t>(pitch_bytes)) % kLaneBytes == 0;
}

template <typename Element>
PTO_INLINE AICORE void load_wide(Element (&piece)[kLanePiece<Element>], const Element* from) {
  const LaneBytes bytes = *reinterpret_cast<const LaneBytes*>(from);
  memcpy(static_cast<void*>(piece), &bytes, kLaneBytes);
}

template <typename Element>
PTO_INLINE AICORE void store_wide(Element* to, const Element (&piece)[kLanePiece<Element>]) {
  LaneBytes bytes;
  memcpy(&bytes, static_cast<const void*>(piece), kLaneBytes);
  *reinterpret_cast<LaneBytes*>(to) = bytes;
}

/// A source as a lane reads it. What is the same everywhere is taken along: it may be a variable of the caller.
template <typename Element>
class LaneSource {
 public:
  PTO_INLINE AICORE explicit LaneSource(const Source& source)
      : data_(static_cast<const Element*>(source.data)),
        pitch_(source.pitch),
        mask_(source.period == 0 ? ~uint32_t{0} : static_cast<uint32_t>(source.period) - 1),
        is_wide_(source.period == 0 && is_wide(source.data, source.pitch * int64_t{sizeof(Element)})),
        is_number_(source.period == 1 && source.pitch == 0),
        number_(is_number_ ? *data_ : Element{}) {}

  /// `count` elements from (row, col) on; col is a multiple of a piece.
  PTO_INLINE AICORE void load(Element (&piece)[kLanePiece<Element>], uint32_t row, uint32_t col, uint32_t count) const {
    const Element* const line = data_ + row * pitch_;
    if (is_wide_ && count == kLanePiece<Element>) return load_wide(piece, line + col);
    PTO_UNROLL
    for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
      if (k < count) piece[k] = is_number_ ? number_ : line[(col + k) & mask_];
    }
  }

 private:
  const Element* data_;
  int64_t pitch_;
  uint32_t mask_;
  bool is_wide_;
  bool is_number_;
  Element number_;
};

/// The destination of rows x cols elements, divided among lanes.
template <typename Element>
class LaneTarget {
 public:
  PTO_INLINE AICORE explicit LaneTarget(const Work& work)
      : data_(static_cast<Element*>(work.dst)),
        pitch_(work.pitch),
        rows_(static_cast<uint32_t>(work.rows)),
        cols_(static_cast<uint32_t>(work.cols)),
        is_wide_(is_wide(work.dst, work.pitch * int64_t{sizeof(Element)})) {}

  /// For each piece of a lane: make(piece, row, col, count) writes its `count` elements.
  template <typename Make>
  PTO_INLINE AICORE void fill(Lanes lanes, Make make) const {
    constexpr uint32_t kPieceOfLane = kLanePiece<Element>;
    for_cells(lanes, rows_, (cols_ + kPieceOfLane - 1) / kPieceOfLane,
              [&](uint32_t row, uint32_t index) PTO_INLINE_LAMBDA {
                const uint32_t col = index * kPieceOfLane;
                const uint32_t count = cols_ - col < kPieceOfLane ? cols_ - col : kPieceOfLane;
                Element piece[kPieceOfLane] = {};
                make(piece, row, col, count);
                Element* const to = data_ + row * pitch_ + col;
                if (is_wide_ && count == kPieceOfLane) return store_wide(to, piece);
                PTO_UNROLL
                for (uint32_t k = 0; k < kPieceOfLane; ++k) {
                  if (k < count) to[k] = piece[k];
                }
              });
  }

 private:
  Element* data_;
  int64_t pitch_;
  uint32_t rows_;
  uint32_t cols_;
  bool is_wide_;
};

template <typename Element, typename Operation>
PTO_INLINE AICORE void combine_on_lanes(const Work& work, Operation operation) {
  on_lanes([operation, target = LaneTarget<Element>(work), first = LaneSource<Element>(work.first),
            second = LaneSource<Element>(work.second)](Lanes lanes) {
    target.fill(
        lanes, [&](Element(&piece)[kLanePiece<Element>], uint32_t row, uint32_t col, uint32_t count) PTO_INLINE_LAMBDA {
          Element with[kLanePiece<Element>] = {};
          first.load(piece, row, col, count);
          second.load(with, row, col, count);
          PTO_UNROLL
          for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
            piece[k] = static_cast<Element>(operation(widened(piece[k]), widened(with[k])));
          }
        });
  });
}

template <typename Element, typename Operation>
PTO_INLINE AICORE void apply_on_lanes(const Work& work, Operation operation) {
  on_lanes([operation, target = LaneTarget<Element>(work), source = LaneSource<Element>(work.first)](Lanes lanes) {
    target.fill(
        lanes, [&](Element(&piece)[kLanePiece<Element>], uint32_t row, uint32_t col, uint32_t count) PTO_INLINE_LAMBDA {
          source.load(piece, row, col, count);
          PTO_UNROLL
          for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
            if (k < count) piece[k] = static_cast<Element>(operation(widened(piece[k])));
          }
        });
  });
}

}  // namespace baton::kernel
