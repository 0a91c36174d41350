#include "chip/device/sim_device.hpp"

#include <baton/options.hpp>

#include "chip/device/host_memory.hpp"

namespace baton::chip {
namespace {

int cores_of(const Profile& profile, const SimOptions& cores) {
  return (cores.clusters != 0 ? cores.clusters : profile.clusters) * kCoresPerCluster;
}

/// Odd schedules find what lies close before a tensor, the others what lies close behind it.
Guards guards_for(std::optional<std::uint64_t> seed) {
  if (!options().check) return Guards::none;
  return seed.value_or(0) % 2 == 1 ? Guards::close_before : Guards::close_behind;
}

}  // namespace

SimDevice::SimDevice(const Profile& profile, SimOptions cores, const SchedulerOptions& tasks, LocalMemory& memory)
    : Device(std::make_shared<HostMemory>(guards_for(cores.seed))),
      scheduler_(memory, tasks, cores_of(profile, cores)) {
  cores.serve = [this](SimCore& core) { scheduler_.serve(core); };
  cores.beside = [this] { scheduler_.serve_deferred(); };
  cores.beside_on_each_thread = [this] { scheduler_.serve_scout(); };
  cores_ = std::make_unique<SimCores>(profile, cores, memory);
  scheduler_.wait_for_cores();
  scheduler_.set_own_core(cores_->own_core());
}

SimDevice::~SimDevice() {
  scheduler_.stop();
  cores_.reset();
}

}  // namespace baton::chip
