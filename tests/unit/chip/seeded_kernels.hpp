// The kernels of seeded_kernels.cpp.
#pragma once

#include <cstdint>

/// What a kernel does wrong, if anything.
enum class Mistake : std::int64_t {
  none,
  no_wait,         // reads before anybody said that it may
  early_notify,    // says so when half of the data is there
  waits_for_one,   // waits for the first notification and takes it for the last
  notifies_apart,  // notifies after it issued an asynchronous put, not after the put
};

extern "C" {
/// out = the sum of `in` over the ranks. args: in, out, then scalars: CommContext*, window (kTileFloats floats, then a
/// signal), mistake
void exchange_kernel(std::int64_t* args);

/// out = `in` of the rank before this one, by an asynchronous put. Arguments as above.
void hand_on_kernel(std::int64_t* args);

/// Notifies the next rank; out[0] = whether this rank sees it. Arguments as above.
void look_back_kernel(std::int64_t* args);
}
