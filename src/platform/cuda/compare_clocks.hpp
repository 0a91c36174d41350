// Asks a GPU for the time.
#pragma once

#include <pto/target/cuda/run.hpp>

#include "platform/cuda/driver.hpp"
#include "platform/cuda/gpu_clock.hpp"

namespace baton::cuda {

/// With `tell_time`, of pto/target/cuda/tell_time.hpp, on a stream where nothing runs. `words`: memory that the GPU
/// reaches. Throws Error (wait_timeout) if no multiprocessor has room for it.
void compare_clocks(GpuClock& clock, ClockWords& words, Function tell_time, Stream stream);

}  // namespace baton::cuda
