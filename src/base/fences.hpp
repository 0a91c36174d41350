// Order between plain reads or writes of memory that somebody else may change, and a word that says so.
//
//   changes   word ─> order_stores() ─> data
//   reads     data ─> order_loads() ─> word       a reader of changed data sees the word
#pragma once

#include <atomic>

namespace baton {

// The thread sanitizer of gcc knows no fences, and refuses them.
#ifdef __SANITIZE_THREAD__
inline void order_loads() noexcept {}
inline void order_stores() noexcept {}
#else
/// No load after it is made before those in front of it. Pairs with order_stores().
inline void order_loads() noexcept { std::atomic_thread_fence(std::memory_order_acquire); }
/// No store after it can be seen before those in front of it. Pairs with order_loads().
inline void order_stores() noexcept { std::atomic_thread_fence(std::memory_order_release); }
#endif

}  // namespace baton
