// What the stand-in for the compiler of Ascend chips puts in front of a kernel: what that compiler knows by itself, and
// the way in for simulated cores.
#pragma once

#include <cstdint>

#include <intrinsic.h>

/// Of the block that begins on this thread. A kernel's entry asks before its first instruction.
inline thread_local int64_t standin_block = 0;
inline int64_t get_block_idx() { return standin_block; }

extern "C" {
/// Which core the code is for, as the loader knows it.
__attribute__((visibility("default"))) extern const uint32_t standin_core;
const uint32_t standin_core = STANDIN_CORE;

/// What simulated cores run: args[0] is the entry, args[1] its argument.
__attribute__((visibility("default"))) void standin_enter(int64_t* args);
void standin_enter(int64_t* args) {
  standin_block = get_block_idx(args);
  reinterpret_cast<void (*)(int64_t*)>(args[0])(reinterpret_cast<int64_t*>(args[1]));
}
}
