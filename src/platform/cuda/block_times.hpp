// When blocks ran, as cores wrote it down, for those who profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <baton/platform.h>

#include <pto/target/cuda/run.hpp>

#include "platform/cuda/gpu_clock.hpp"

namespace baton::cuda {

/// A block of a task, and where its core writes its times.
struct TimedBlock {
  std::uint32_t task;
  std::uint32_t block;
  std::uint32_t core;
  std::size_t place;
};

/// Tells of all blocks that a core came to.
void tell_times(std::span<const TimedBlock> blocks, std::span<const UnitTimes> times, const GpuClock& clock,
                const BatonRunOptions& options);

}  // namespace baton::cuda
