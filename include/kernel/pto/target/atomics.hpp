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
#else
#define PTO_ATOMIC_LOAD(address, order) __atomic_load_n(address, __ATOMIC_##order)
#define PTO_ATOMIC_STORE(address, value, order) __atomic_store_n(address, value, __ATOMIC_##order)
#endif

template <typename Word>
PTO_INLINE AICORE Word load_relaxed(const volatile Word* address) {
  return PTO_ATOMIC_LOAD(address, RELAXED);
}

template <typename Word>
PTO_INLINE AICORE void store_relaxed(volatile Word* address, Word value) {
  PTO_ATOMIC_STORE(address, value, RELAXED);
}

/// Pairs with the release store of whoever writes `address`; each caller names it.
template <typename Word>
PTO_INLINE AICORE Word load_acquire(const volatile Word* address) {
  return PTO_ATOMIC_LOAD(address, ACQUIRE);
}

/// Pairs with the acquire load of whoever reads `address`; each caller names it.
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

#undef PTO_ATOMIC_LOAD
#undef PTO_ATOMIC_STORE

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
  using Word = typename WordOf<Element>::type;
  auto* word = reinterpret_cast<Word*>(address);
  Word before = __atomic_load_n(word, __ATOMIC_RELAXED);
  Word after;
  do {
    Element old;
    memcpy(&old, &before, sizeof old);
    const Element updated = sum(old, value);
    memcpy(&after, &updated, sizeof after);
  } while (!__atomic_compare_exchange_n(word, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

}  // namespace baton::kernel
