// The kernel's futexes, as far as parking needs them.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/deadline.hpp"

namespace baton {

/// Whether the waiters of a word are all in this process, or may be in others that map the same memory.
enum class FutexScope : std::uint8_t { process, shared };

/// Sleeps while `word` is `seen`, until a wake, a signal or the deadline. The caller tests again, whatever the reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, Deadline deadline, FutexScope scope) noexcept;

/// Wakes everybody who sleeps on `word`.
void futex_wake_all(std::atomic<std::uint32_t>& word, FutexScope scope) noexcept;

}  // namespace baton
