// Conditions: what must still become true after a kernel returned.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "chip/cores/operation.hpp"

namespace baton::chip {

enum class ConditionKind : std::uint8_t {
  counter,    // a 32-bit word has reached a value, unsigned: a notification, a flag
  dma_event,  // the record of an asynchronous copy, or a 64-bit word that has reached a value
};

/// A value: the owner of the task owns its conditions. A copy's record lives at least as long as they do.
struct Condition {
  ConditionKind kind;
  /// Of the word.
  const void* address;
  /// The word has at least this value once the condition holds.
  std::uint64_t expected;
  /// A COMPLETION_ENGINE_ number, as the kernel gave it.
  std::uint32_t engine = 0;
  /// The copy, if it is one of this runtime. Its error is then the condition's.
  std::shared_ptr<const OperationRecord> operation = nullptr;
};

/// Whether the condition holds. An acquire if it does: the caller then sees what was done before. Throws Error if its
/// operation failed. May be used as a test of wait_until().
[[nodiscard]] bool test(const Condition& condition);

/// For messages: `counter >= 7 (has 6)`.
[[nodiscard]] std::string describe(const Condition& condition);

}  // namespace baton::chip
