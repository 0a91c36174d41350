// The atomic operations of instructions on memory that other cores and other ranks see.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>
#include <string.h>
#include <pto/target/compiler.hpp>

namespace baton::kernel {

#if defined(__CUDACC__)
#define PTO_ATOMIC_LOAD(address, order) \
  __nv_atomic_load_n(const_cast<Word*>(address), __NV_ATOMIC_##order, __NV_THREAD_SCOPE_SYSTEM)
#define PTO_ATOMIC_STORE(address, value, order) \
  __nv_atomic_store_n(const_cast<Word*>(address), value, __NV_ATOMIC_##order, __NV_THREAD_SCOPE_SYSTEM)
#define PTO_ATOMIC_EXCHANGE(address, before, after, order)                                                \
  __nv_atomic_compare_exchange_n(address, &before, after, true, __NV_ATOMIC_##order, __NV_ATOMIC_##order, \
                                 __NV_THREAD_SCOPE_SYSTEM)
#else
#define PTO_ATOMIC_LOAD(address, order) __atomic_load_n(address, __ATOMIC_##order)
#define PTO_ATOMIC_STORE(address, value, order) __atomic_store_n(address, value, __ATOMIC_##order)
#define PTO_ATOMIC_EXCHANGE(address, before, after, order) \
  __atomic_compare_exchange_n(address, &before, after, true, __ATOMIC_##order, __ATOMIC_##order)
#endif

template <typename Word>
PTO_INLINE AICORE Word load_relaxed(const volatile Word* address) {
  return PTO_ATOMIC_LOAD(address, RELAXED);
}

template <typename Word>
PTO_INLINE AICORE void store_relaxed(volatile Word* address, Word value) {
  PTO_ATOMIC_STORE(address, value, RELAXED);
}

/// Pairs with the release store of the one who writes `address`; each caller names it.
template <typename Word>
PTO_INLINE AICORE Word load_acquire(const volatile Word* address) {
  return PTO_ATOMIC_LOAD(address, ACQUIRE);
}

/// Pairs with the acquire load of the one who reads `address`; each caller names it.
template <typename Word>
PTO_INLINE AICORE void store_release(volatile Word* address, Word value) {
  PTO_ATOMIC_STORE(address, value, RELEASE);
}

/// For words that two sides write before each looks at the other's: at least one of them sees what the other wrote.
template <typename Word>
PTO_INLINE AICORE Word load_in_order(const volatile Word* address) {
  return PTO_ATOMIC_LOAD(address, SEQ_CST);
}
template <typename Word>
PTO_INLINE AICORE void store_in_order(volatile Word* address, Word value) {
  PTO_ATOMIC_STORE(address, value, SEQ_CST);
}

/// Whether *address was `before` and is `after` now; else `before` is what it was. May fail without cause.
template <typename Word>
PTO_INLINE AICORE bool exchange_relaxed(Word* address, Word& before, Word after) {
  return PTO_ATOMIC_EXCHANGE(address, before, after, RELAXED);
}

#undef PTO_ATOMIC_LOAD
#undef PTO_ATOMIC_STORE
#undef PTO_ATOMIC_EXCHANGE

template <typename Element>
struct WordOf {
  static_assert(sizeof(Element) == 1 || sizeof(Element) == 2 || sizeof(Element) == 4);
  static constexpr AICORE auto word() {
    if constexpr (sizeof(Element) == 1) return uint8_t{};
    if constexpr (sizeof(Element) == 2) return uint16_t{};
    if constexpr (sizeof(Element) == 4) return uint32_t{};
  }
  using type = decltype(word());
};

/// *address = sum(*address, value), one element at a time. Relaxed: a notify that follows publishes it.
template <typename Element, typename Sum>
AICORE void atomic_update(Element* address, Element value, Sum sum) {
  using Bits = typename WordOf<Element>::type;
#if defined(__CUDACC__)
  // A GPU exchanges words of 4 bytes: the one that has the element in it.
  using Word = uint32_t;
  const auto place = reinterpret_cast<uintptr_t>(address);
  auto* word = reinterpret_cast<Word*>(place & ~uintptr_t{3});
  const auto shift = static_cast<uint32_t>(place & 3) * 8;
#else
  using Word = Bits;
  auto* word = reinterpret_cast<Word*>(address);
  constexpr uint32_t shift = 0;
#endif
  Word before = load_relaxed(word);
  Word after;
  do {
    const auto old_bits = static_cast<Bits>(before >> shift);
    Element old;
    memcpy(&old, &old_bits, sizeof old);
    const Element updated = sum(old, value);
    Bits bits;
    memcpy(&bits, &updated, sizeof bits);
    const auto others = static_cast<Word>(before ^ static_cast<Word>(Word{old_bits} << shift));
    after = static_cast<Word>(others | static_cast<Word>(Word{bits} << shift));
  } while (!exchange_relaxed(word, before, after));
}

}  // namespace baton::kernel
