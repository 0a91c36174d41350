// Square blocks of elements, rows to columns: what lies between boxes that are stored by rows and by columns.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>
#include <string.h>
#include <pto/target/compiler.hpp>

namespace baton::kernel {

#if !defined(__CUDACC__) && defined(__AVX__)
typedef uint32_t WordsOfRow __attribute__((vector_size(32)));
inline constexpr int kWordBlock = 8;

/// Interleaves words, then pairs of words, then halves of vectors.
PTO_INLINE void transpose_words(WordsOfRow (&rows)[kWordBlock]) {
  WordsOfRow a[kWordBlock];
  WordsOfRow b[kWordBlock];
  PTO_UNROLL
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = __builtin_shufflevector(rows[2 * i], rows[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    a[2 * i + 1] = __builtin_shufflevector(rows[2 * i], rows[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  PTO_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int k = i / 2 * 4 + i % 2;
    b[2 * i] = __builtin_shufflevector(a[k], a[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    b[2 * i + 1] = __builtin_shufflevector(a[k], a[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  PTO_UNROLL
  for (int i = 0; i < 4; ++i) {
    rows[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}
#endif

#if !defined(__CUDACC__)
typedef uint8_t BytesOfLine __attribute__((vector_size(16)));
typedef uint16_t HalvesOfLine __attribute__((vector_size(16)));
typedef uint32_t WordsOfLine __attribute__((vector_size(16)));

/// The elements of the lower, or the upper, halves of two lines in turn.
PTO_INLINE BytesOfLine lower_in_turn(BytesOfLine a, BytesOfLine b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
PTO_INLINE BytesOfLine upper_in_turn(BytesOfLine a, BytesOfLine b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
PTO_INLINE HalvesOfLine lower_in_turn(HalvesOfLine a, HalvesOfLine b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
PTO_INLINE HalvesOfLine upper_in_turn(HalvesOfLine a, HalvesOfLine b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
PTO_INLINE WordsOfLine lower_in_turn(WordsOfLine a, WordsOfLine b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
PTO_INLINE WordsOfLine upper_in_turn(WordsOfLine a, WordsOfLine b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }

/// Shuffling the lines of one half between those of the other doubles the distance of neighbours: as many rounds as the
/// side has bits.
template <typename Line, int side>
PTO_INLINE void transpose_lines(Line (&lines)[side]) {
  PTO_UNROLL
  for (int round = 1; round < side; round *= 2) {
    Line shuffled[side];
    PTO_UNROLL
    for (int i = 0; i < side / 2; ++i) {
      shuffled[2 * i] = lower_in_turn(lines[i], lines[i + side / 2]);
      shuffled[2 * i + 1] = upper_in_turn(lines[i], lines[i + side / 2]);
    }
    PTO_UNROLL
    for (int i = 0; i < side; ++i) lines[i] = shuffled[i];
  }
}

template <int bytes>
struct LineOf;
template <>
struct LineOf<1> {
  typedef BytesOfLine type;
  static constexpr int kSide = 16;
};
template <>
struct LineOf<2> {
  typedef HalvesOfLine type;
  static constexpr int kSide = 8;
};
template <>
struct LineOf<4> {
#if defined(__AVX__)
  typedef WordsOfRow type;
  static constexpr int kSide = 8;
#else
  typedef WordsOfLine type;
  static constexpr int kSide = 4;
#endif
};

#if defined(__AVX__)
PTO_INLINE void transpose_lines(WordsOfRow (&rows)[kWordBlock]) { transpose_words(rows); }
#endif
#endif

/// to[c * to_pitch + r] = from[r * from_pitch + c] for r, c below `side`.
template <int side, typename Element>
PTO_INLINE AICORE void transpose_block(Element* to, int64_t to_pitch, const Element* from, int64_t from_pitch) {
#if !defined(__CUDACC__)
  if constexpr (sizeof(Element) <= 4) {
    using Line = typename LineOf<sizeof(Element)>::type;
    constexpr int kSide = LineOf<sizeof(Element)>::kSide;
    if constexpr (side % kSide == 0) {
      for (int r = 0; r < side; r += kSide) {
        for (int c = 0; c < side; c += kSide) {
          Line lines[kSide];
          PTO_UNROLL
          for (int i = 0; i < kSide; ++i) {
            memcpy(&lines[i], static_cast<const void*>(from + (r + i) * from_pitch + c), sizeof lines[i]);
          }
          transpose_lines(lines);
          PTO_UNROLL
          for (int i = 0; i < kSide; ++i) {
            memcpy(static_cast<void*>(to + (c + i) * to_pitch + r), &lines[i], sizeof lines[i]);
          }
        }
      }
      return;
    }
  }
#endif
  for (int c = 0; c < side; ++c) {
    for (int r = 0; r < side; ++r) to[c * to_pitch + r] = from[r * from_pitch + c];
  }
}

}  // namespace baton::kernel
