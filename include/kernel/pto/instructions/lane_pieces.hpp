// Elements as many lanes take them: 16 bytes at once, neighbours beside each other.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stddef.h>
#include <string.h>
#include <pto/instructions/numbers.hpp>
#include <pto/target/lanes.hpp>
#include <type_traits>

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

/// The same address of Vec, of which the compiler knows that it is in the shared memory of a GPU: accesses there are
/// faster.
template <typename Element>
PTO_INLINE AICORE Element* in_vec(Element* address) {
#if defined(__CUDACC__)
  auto in_shared = static_cast<uint32_t>(__cvta_generic_to_shared(address));
  asm("" : "+r"(in_shared));  // or the compiler takes one conversion for the inverse of the other
  return static_cast<Element*>(__cvta_shared_to_generic(in_shared));
#else
  return address;
#endif
}

/// An address of Vec as lanes are told it.
template <typename Element>
class VecAddress {
 public:
#if defined(__CUDACC__)
  __device__ __forceinline__ explicit VecAddress(Element* address)
      : in_shared_(static_cast<uint32_t>(__cvta_generic_to_shared(address))) {}
  __device__ __forceinline__ Element* get() const {
    return static_cast<Element*>(__cvta_shared_to_generic(in_shared_));
  }

 private:
  uint32_t in_shared_;
#else
  PTO_INLINE explicit VecAddress(Element* address) : address_(address) {}
  PTO_INLINE Element* get() const { return address_; }

 private:
  Element* address_;
#endif
};

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

/// The same in Vec.
template <typename Element>
PTO_INLINE AICORE void store_wide_in_vec(Element* to, const Element (&piece)[kLanePiece<Element>]) {
#if defined(__CUDACC__)
  // What the compiler would make four accesses of.
  LaneBytes bytes;
  memcpy(&bytes, static_cast<const void*>(piece), kLaneBytes);
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))),
               "r"(bytes.words[0]), "r"(bytes.words[1]), "r"(bytes.words[2]), "r"(bytes.words[3])
               : "memory");
#else
  store_wide(to, piece);
#endif
}

/// What is left of a scratch tile: enough for a kernel that relies on it to be noticed.
PTO_INLINE AICORE void lose_first_bytes(void* scratch) {
  constexpr LaneBytes kOther{{~0u, ~0u, ~0u, ~0u}};
  *static_cast<LaneBytes*>(scratch) = kOther;
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

  /// Whether a whole piece is 16 bytes that load_whole() may read, or one element that repeats through a row.
  PTO_INLINE AICORE bool comes_whole() const { return is_wide_; }
  PTO_INLINE AICORE bool repeats() const { return mask_ == 0; }

  PTO_INLINE AICORE void load_whole(Element (&piece)[kLanePiece<Element>], uint32_t row, uint32_t col) const {
    load_wide(piece, in_vec(data_ + row * static_cast<uint32_t>(pitch_) + col));
  }
  PTO_INLINE AICORE Element load_number(uint32_t row) const {
    return is_number_ ? number_ : *in_vec(data_ + row * static_cast<uint32_t>(pitch_));
  }

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

/// What an operation takes for a piece.
template <typename Element>
struct OnePiece {
  Element first[kLanePiece<Element>];
};
template <typename Element>
struct TwoPieces {
  Element first[kLanePiece<Element>];
  Element second[kLanePiece<Element>];
};
template <typename Element>
struct PieceAndNumber {
  Element first[kLanePiece<Element>];
  Element second;
};

/// An operation whose second operand is one number for several elements.
template <typename Operation, typename Operand>
struct WithNumber {
  Operation operation;
  Operand number;
  PTO_INLINE AICORE WithNumber(Operation operation_with, Operand with) : operation(operation_with), number(with) {}
  /// Several pieces, in place. False: they are as they were, and have to be calculated one element at a time.
  template <typename Element, uint32_t kCount>
  PTO_INLINE AICORE bool apply(Element (&pieces)[kCount][kLanePiece<Element>]) const {
    PTO_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      PTO_UNROLL
      for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
        pieces[i][k] = static_cast<Element>(operation(widened(pieces[i][k]), number));
      }
    }
    return true;
  }
};

#if defined(__CUDACC__)
/// As a GPU divides, with what depends on the divisor alone done once.
template <>
struct WithNumber<DivideNumbers, float> {
  float divisor;
  float reciprocal;
  bool is_usual;   // neither it nor a quotient of usual numbers comes near the ends of what a float holds
  uint32_t zeros;  // 1: quotients of zeros are as usual as others

  __device__ __forceinline__ WithNumber(DivideNumbers, float with) : divisor(with) {
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(with));
    reciprocal = __fmaf_rn(__fmaf_rn(-with, reciprocal, 1.0f), reciprocal, reciprocal);
    constexpr uint32_t kLeastExponent = 97;
    constexpr uint32_t kEnd = 157;
    is_usual = (__float_as_uint(with) >> 23 & 0xffu) - kLeastExponent < kEnd - kLeastExponent;
    zeros = with > 0 ? 1 : 0;
  }
  /// With the sign of zeros, if the divisor is positive: the rest is subtracted, and that of a zero is +0.
  __device__ __forceinline__ float divide(float value) const {
    const float quotient = __fmul_rn(value, reciprocal);
    const float rest = __fmaf_rn(divisor, quotient, -value);
    return __fmaf_rn(-rest, reciprocal, quotient);
  }

  template <typename Element, uint32_t kCount>
  __device__ __forceinline__ bool apply(Element (&pieces)[kCount][kLanePiece<Element>]) const {
    // Their least magnitude but for zeros, twice its bits less 1, and the largest one: of each piece, so that pieces do
    // not wait for each other, and of all.
    uint32_t least = ~0u;
    float most = 0;
    PTO_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      uint32_t least_here = ~0u;
      float most_here = 0;
      PTO_UNROLL
      for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
        const float value = widened(pieces[i][k]);
        least_here = min(least_here, 2 * __float_as_uint(value) - zeros);
        most_here = fmaxf(most_here, fabsf(value));
      }
      least = min(least, least_here);
      most = fmaxf(most, most_here);
    }
    constexpr uint32_t kLeast = uint32_t{64} << 24;  // 2^-63
    if (!is_usual || least < kLeast || !(most < 0x1p63f)) return false;
    PTO_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      PTO_UNROLL
      for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
        pieces[i][k] = static_cast<Element>(divide(widened(pieces[i][k])));
      }
    }
    return true;
  }
};
#endif

/// A number that a type says.
template <uint32_t kNumber>
using Number = std::integral_constant<uint32_t, kNumber>;

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

  /// Whether all pieces are whole and can be written at once.
  PTO_INLINE AICORE bool is_whole() const { return is_wide_ && cols_ % kLanePiece<Element> == 0; }

  /// For each piece of a lane, where all are whole: load(operands, row, col), then make(piece, operands). A few pieces
  /// together, whose operands are on their way at once.
  template <typename Operands, typename Load, typename Make>
  PTO_INLINE AICORE void fill_whole(Lanes lanes, Load load, Make make) const {
    constexpr uint32_t kPieceOfLane = kLanePiece<Element>;
    const uint32_t cols = cols_ / kPieceOfLane;
    if (cols == 0) return;
    const uint32_t all = rows_ * cols;
    uint32_t at = lanes.lane;
    LaneCells cell(lanes, cols);
    const auto fill_some = [&](auto together) PTO_INLINE_LAMBDA {
      constexpr uint32_t kTogether = decltype(together)::value;
      Operands operands[kTogether];
      uint32_t places[kTogether];
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) {
        load(operands[i], cell.row, cell.col * kPieceOfLane);
        places[i] = cell.row * static_cast<uint32_t>(pitch_) + cell.col * kPieceOfLane;
        cell.advance();
      }
      PTO_UNROLL
      for (uint32_t i = 0; i < kTogether; ++i) {
        Element piece[kPieceOfLane];
        make(piece, operands[i]);
        store_wide_in_vec(data_ + places[i], piece);
      }
    };
    constexpr uint32_t kSome = 4;
    for (; at + (kSome - 1) * lanes.count < all; at += kSome * lanes.count) fill_some(Number<kSome>{});
    for (; at < all; at += lanes.count) fill_some(Number<1>{});
  }

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
    if (target.is_whole() && first.comes_whole() && second.comes_whole()) {
      return target.template fill_whole<TwoPieces<Element>>(
          lanes,
          [&](TwoPieces<Element>& operands, uint32_t row, uint32_t col) PTO_INLINE_LAMBDA {
            first.load_whole(operands.first, row, col);
            second.load_whole(operands.second, row, col);
          },
          [&](Element(&piece)[kLanePiece<Element>], const TwoPieces<Element>& operands) PTO_INLINE_LAMBDA {
            PTO_UNROLL
            for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
              piece[k] = static_cast<Element>(operation(widened(operands.first[k]), widened(operands.second[k])));
            }
          });
    }
    if (target.is_whole() && first.comes_whole() && second.repeats()) {
      return target.template fill_whole<PieceAndNumber<Element>>(
          lanes,
          [&](PieceAndNumber<Element>& operands, uint32_t row, uint32_t col) PTO_INLINE_LAMBDA {
            first.load_whole(operands.first, row, col);
            operands.second = second.load_number(row);
          },
          [&](Element(&piece)[kLanePiece<Element>], const PieceAndNumber<Element>& operands) PTO_INLINE_LAMBDA {
            const WithNumber<Operation, Computed<Element>> with(operation, widened(operands.second));
            Element pieces[1][kLanePiece<Element>];
            memcpy(pieces[0], operands.first, sizeof piece);
            if (with.apply(pieces)) {
              memcpy(piece, pieces[0], sizeof piece);
              return;
            }
            PTO_UNROLL
            for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
              piece[k] = static_cast<Element>(operation(widened(operands.first[k]), widened(operands.second)));
            }
          });
    }
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
    if (target.is_whole() && source.comes_whole()) {
      return target.template fill_whole<OnePiece<Element>>(
          lanes,
          [&](OnePiece<Element>& operands, uint32_t row, uint32_t col)
              PTO_INLINE_LAMBDA { source.load_whole(operands.first, row, col); },
          [&](Element(&piece)[kLanePiece<Element>], const OnePiece<Element>& operands) PTO_INLINE_LAMBDA {
            PTO_UNROLL
            for (uint32_t k = 0; k < kLanePiece<Element>; ++k) {
              piece[k] = static_cast<Element>(operation(widened(operands.first[k])));
            }
          });
    }
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
