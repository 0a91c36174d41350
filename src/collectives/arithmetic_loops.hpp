// The loops of arithmetic: blocks that stay in the first cache, several sources in one pass, vectorised by the
// compiler.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <baton/collectives.hpp>

// Iterations are independent even where `to` is one of the sources: the same index is read before it is written.
#if defined(__clang__)
#define BATON_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define BATON_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace baton::collectives {

/// Elements of one block, and how many sources join the running result in one pass over it.
inline constexpr std::size_t kBlock = 1024;
inline constexpr std::size_t kSourcesPerPass = 3;

template <class Op, class T>
void combine(T* to, const T* running, const T* const* next, std::size_t sources, std::size_t count) {
  const T* a = next[0];
  if (sources == 1) {
    BATON_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i) to[i] = Op::of(running[i], a[i]);
    return;
  }
  const T* b = next[1];
  if (sources == 2) {
    BATON_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i) to[i] = Op::of(Op::of(running[i], a[i]), b[i]);
    return;
  }
  const T* c = next[2];
  BATON_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) to[i] = Op::of(Op::of(Op::of(running[i], a[i]), b[i]), c[i]);
}

template <class T>
void divide(T* values, std::size_t count, std::uint32_t divisor) {
  // Wide enough for the divisor, whatever T is.
  using Wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                  std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  const auto by = static_cast<Wide>(divisor);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<Wide>(values[i]) / by);
}

/// For types that are computed with as they are stored.
template <class T, class Op>
void reduce_stored(std::byte* to_bytes, std::span<const std::byte* const> from, std::size_t count,
                   std::uint32_t divisor) {
  auto* to = reinterpret_cast<T*>(to_bytes);
  alignas(64) T partial[kBlock];
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t n = std::min(kBlock, count - first);
    const auto source = [&](std::size_t index) { return reinterpret_cast<const T*>(from[index]) + first; };
    const T* running = source(0);
    if (from.size() == 1 && running != to + first) std::memmove(to + first, running, n * sizeof(T));
    for (std::size_t done = 1; done < from.size();) {
      const std::size_t sources = std::min(kSourcesPerPass, from.size() - done);
      const T* next[kSourcesPerPass] = {};
      for (std::size_t i = 0; i < sources; ++i) next[i] = source(done + i);
      done += sources;
      // `to` may be a source that is still to come, so only the last pass writes there.
      T* target = done == from.size() ? to + first : partial;
      combine<Op>(target, running, next, sources, n);
      running = target;
    }
    if (divisor > 1) divide(to + first, n, divisor);
  }
}

/// For types that are computed with as floats. Format converts.
template <class Format, class Op>
void reduce_converted(std::byte* to_bytes, std::span<const std::byte* const> from, std::size_t count,
                      std::uint32_t divisor) {
  auto* to = reinterpret_cast<std::uint16_t*>(to_bytes);
  alignas(64) float partial[kBlock];
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t n = std::min(kBlock, count - first);
    const auto* begin = reinterpret_cast<const std::uint16_t*>(from[0]) + first;
    for (std::size_t i = 0; i < n; ++i) partial[i] = Format::to_float(begin[i]);
    for (std::size_t source = 1; source < from.size(); ++source) {
      const auto* next = reinterpret_cast<const std::uint16_t*>(from[source]) + first;
      for (std::size_t i = 0; i < n; ++i) partial[i] = Op::of(partial[i], Format::to_float(next[i]));
    }
    if (divisor > 1) divide(partial, n, divisor);
    std::uint16_t* target = to + first;
    for (std::size_t i = 0; i < n; ++i) target[i] = Format::from_float(partial[i]);
  }
}

struct Min {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};

struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

/// Nothing for floats: check_op() refuses them.
template <class T, class Op>
void reduce_bits(std::byte* to, std::span<const std::byte* const> from, std::size_t count) {
  if constexpr (std::is_integral_v<T>) reduce_stored<T, Op>(to, from, count, 1);
}

/// The same for an operation that is known at run time. Sum and Product differ from type to type.
template <class T, class Sum, class Product>
void reduce_stored(std::byte* to, std::span<const std::byte* const> from, std::size_t count, ReduceOp op,
                   std::uint32_t divisor) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg: return reduce_stored<T, Sum>(to, from, count, divisor);
    case ReduceOp::prod: return reduce_stored<T, Product>(to, from, count, divisor);
    case ReduceOp::min: return reduce_stored<T, Min>(to, from, count, divisor);
    case ReduceOp::max: return reduce_stored<T, Max>(to, from, count, divisor);
    case ReduceOp::bit_and: return reduce_bits<T, And>(to, from, count);
    case ReduceOp::bit_or: return reduce_bits<T, Or>(to, from, count);
    case ReduceOp::bit_xor: return reduce_bits<T, Xor>(to, from, count);
  }
}

}  // namespace baton::collectives
