#include "platform/cuda/block_times.hpp"

namespace baton::cuda {

void tell_times(std::span<const TimedBlock> blocks, std::span<const UnitTimes> times, const GpuClock& clock,
                const BatonRunOptions& options) {
  for (const TimedBlock& block : blocks) {
    const UnitTimes& unit = times[block.place];
    if (unit.began == 0 && unit.returned == 0) continue;
    BatonBlockTimes told{};
    told.task = block.task;
    told.block = block.block;
    told.core = block.core;
    told.started = clock.host_of(unit.began);
    told.returned = clock.host_of(unit.returned);
    told.completed = clock.host_of(unit.complete);
    options.note_block(options.context, &told);
  }
}

}  // namespace baton::cuda
