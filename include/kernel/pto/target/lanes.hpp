// The lanes of a core: what works on the elements of an instruction.
//
// A kernel is read once, by one thread. An instruction that is worth it hands its elements to all lanes and goes on
// when they are done, so nothing of one instruction is ever seen half done by the next. On a host there is one lane.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/compiler.hpp>
#include <pto/target/lane.hpp>

#if defined(__CUDACC__)
#include <pto/target/cuda/lanes.hpp>
#else
namespace baton::kernel {

/// Calls body(Lanes) on every lane of the core and returns when all have. `body` holds values and pointers to memory of
/// the chip: what refers to variables of the caller is not there on other lanes. No two lanes write the same byte, and
/// none reads what another one writes.
template <typename Body>
PTO_INLINE AICORE void on_lanes(Body body) {
  body(Lanes{0, 1});
}

}  // namespace baton::kernel
#endif
