// What accesses do with bytes, for tests that try all pairs of them.
#pragma once

#include "access_kernels.hpp"
#include "base/checked_event.hpp"

namespace baton::test {

/// Whether one of them has to come before the other.
[[nodiscard]] constexpr bool conflict(CheckedUse a, CheckedUse b) noexcept {
  return a == CheckedUse::write || b == CheckedUse::write || a != b;
}

/// What an instruction does with the bytes that are there.
[[nodiscard]] constexpr CheckedUse use_of(Instruction instruction) noexcept {
  switch (instruction) {
    case Instruction::load:
    case Instruction::put_from_there:
    case Instruction::get_from_there:
    case Instruction::put_async_from_there:
    case Instruction::get_async_from_there: return CheckedUse::read;
    case Instruction::add:
    case Instruction::put_adding: return CheckedUse::atomic;
    default: return CheckedUse::write;
  }
}

}  // namespace baton::test
