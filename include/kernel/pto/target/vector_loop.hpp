// Loops over many elements: stored as vectors, moved, filled.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stddef.h>
#include <string.h>
#include <pto/target/compiler.hpp>

namespace baton::kernel {

/// What loops step through at once.
inline constexpr size_t kPieceBytes = 64;
template <typename Element>
inline constexpr size_t kPiece = kPieceBytes / sizeof(Element);

/// dst[i] = value(i) for i below kPiece. `value` may read dst[i].
///
/// gcc makes vectors of loops of unknown length at -O3 only, but of pieces of a fixed length at -O2 as well. clang
/// takes such pieces apart, and makes vectors of them if nothing is stored meanwhile.
template <typename Element, typename Value>
PTO_INLINE AICORE void store_piece(Element* dst, Value value) {
#if defined(__clang__)
  Element piece[kPiece<Element>];
  for (size_t k = 0; k < kPiece<Element>; ++k) piece[k] = value(k);
  memcpy(static_cast<void*>(dst), static_cast<const void*>(piece), sizeof piece);
#else
  PTO_VECTOR_PIECE
  for (size_t k = 0; k < kPiece<Element>; ++k) dst[k] = value(k);
#endif
}

/// memmove, which device code of a GPU does not have.
PTO_INLINE AICORE void move_bytes(void* dst, const void* src, size_t bytes) {
#if defined(__CUDACC__)
  auto* to = static_cast<unsigned char*>(dst);
  const auto* from = static_cast<const unsigned char*>(src);
  const bool forward = to <= from;
  for (size_t i = 0; i < bytes; ++i) {
    const size_t at = forward ? i : bytes - 1 - i;
    to[at] = from[at];
  }
#else
  memmove(dst, src, bytes);
#endif
}

/// A piece that holds the same few bytes, a divisor of its size, again and again.
struct alignas(kPieceBytes) Pattern {
  unsigned char bytes[kPieceBytes];
};

template <size_t bytes>
PTO_INLINE AICORE void repeat_bytes(Pattern& pattern, const void* period) {
  unsigned char once[bytes];
  memcpy(once, period, bytes);
  for (size_t at = 0; at < kPieceBytes; at += bytes) memcpy(pattern.bytes + at, once, bytes);
}

/// `period_bytes` are those of an element, or 32.
PTO_ONCE PTO_SHARED AICORE void repeat(Pattern& pattern, const void* period, size_t period_bytes) {
  switch (period_bytes) {
    case 1: return repeat_bytes<1>(pattern, period);
    case 2: return repeat_bytes<2>(pattern, period);
    case 4: return repeat_bytes<4>(pattern, period);
    case 8: return repeat_bytes<8>(pattern, period);
    default: return repeat_bytes<32>(pattern, period);
  }
}

PTO_INLINE AICORE void fill_bytes(void* dst, size_t count, const Pattern& pattern) {
  auto* to = static_cast<unsigned char*>(dst);
  for (; count >= kPieceBytes; count -= kPieceBytes, to += kPieceBytes) memcpy(to, pattern.bytes, kPieceBytes);
  if (count > 0) memcpy(to, pattern.bytes, count);
}

}  // namespace baton::kernel
