// Telling the core which instruction runs on which pipe and which bytes it touches.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/fail.hpp>

namespace baton::kernel {

constexpr AICORE uint32_t pipe_bit(int pipe) { return uint32_t{1} << pipe; }

/// The core if it wants to be told of instructions, else null. Before the instruction reads or writes anything.
PTO_INLINE AICORE BatonCore* watching_core() {
  PTO_INSTRUCTION_BOUNDARY();
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

}  // namespace baton::kernel
