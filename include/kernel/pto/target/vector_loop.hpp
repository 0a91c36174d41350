// Loops over many elements: stored as vectors, moved.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stddef.h>
#include <string.h>
#include <pto/target/compiler.hpp>

namespace baton::kernel {

/// dst[i] = value(i) for i below `count`. `value` may read dst[i].
///
/// gcc makes vectors of loops of unknown length at -O3 only, but of pieces of a fixed length at -O2 as well. clang
/// takes such pieces apart, and makes vectors of them if nothing is stored meanwhile.
template <typename Element, typename Value>
PTO_INLINE AICORE void vector_store(Element* dst, size_t count, Value value) {
  constexpr size_t kPiece = 64 / sizeof(Element);
  size_t i = 0;
  for (; i + kPiece <= count; i += kPiece) {
#if defined(__clang__)
    Element piece[kPiece];
    for (size_t k = 0; k < kPiece; ++k) piece[k] = value(i + k);
    memcpy(static_cast<void*>(dst + i), static_cast<const void*>(piece), sizeof piece);
#else
    PTO_VECTOR_PIECE
    for (size_t k = 0; k < kPiece; ++k) dst[i + k] = value(i + k);
#endif
  }
  for (; i < count; ++i) dst[i] = value(i);
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

}  // namespace baton::kernel
