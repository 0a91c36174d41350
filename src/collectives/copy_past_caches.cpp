#include "collectives/copy_past_caches.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "collectives/scratch.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace baton::collectives {

std::size_t more_than_caches_hold() {
  // Measured: from two fifths of the last cache on, which others use too, copies past the caches are faster.
  static const std::size_t bytes = [] {
    constexpr std::size_t kUsual = std::size_t{40} * 1024 * 1024;
    const long cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 0 ? static_cast<std::size_t>(cache) / 5 * 2 : kUsual;
  }();
  return bytes;
}

#if defined(__x86_64__)

void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  if (bytes < head + kLine) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return;
  }
  if (head != 0) std::memcpy(to, from, head);
  const std::size_t end = head + (bytes - head) / kLine * kLine;
  for (std::size_t at = head; at < end; at += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* line = reinterpret_cast<__m128i*>(to + at);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
  }
  if (end != bytes) std::memcpy(to + end, from + end, bytes - end);
  // These stores may become visible after later ones, releases included.
  _mm_sfence();
}

#else

void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

#endif

}  // namespace baton::collectives
