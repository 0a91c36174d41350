// Telling the core which instruction runs on which pipe and which bytes it touches.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/fail.hpp>
#include <pto/target/lane.hpp>

namespace baton::kernel {

constexpr AICORE uint32_t pipe_bit(int pipe) { return uint32_t{1} << pipe; }

/// The core if it wants to be told of instructions, else null.
PTO_INLINE AICORE BatonCore* core_that_watches() {
#if defined(__CUDACC__) && defined(PTO_STRICT_PIPES)
  return kChecks ? &current_core() : nullptr;
#elif defined(__CUDACC__)
  return nullptr;  // nobody watches cores of a GPU
#else
  if (!kChecks) return nullptr;
  BatonCore& core = current_core();
  return (core.watches & BATON_WATCH_ISSUE) == 0 ? nullptr : &core;
#endif
}

/// The same, before the instruction reads or writes anything. It may do so by itself: what lanes were given is done.
PTO_INLINE AICORE BatonCore* watching_core() {
  PTO_INSTRUCTION_BOUNDARY();
  settle_lanes();
  return core_that_watches();
}

/// The same for an instruction that posts all it does.
PTO_INLINE AICORE bool is_watched() {
  PTO_INSTRUCTION_BOUNDARY();
  return core_that_watches() != nullptr;
}

}  // namespace baton::kernel
