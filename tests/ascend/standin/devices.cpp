// Start and end, devices, contexts, texts of errors (R 02, 04, 05, 12, 13).
#include "kernels.hpp"
#include "state.hpp"
#include "streams.hpp"

#include <cstdlib>

namespace standin {
namespace {

bool is_device(std::int64_t id) { return id >= 0 && id < kDeviceCount; }

/// What a device leaves when its last user goes. `Wait::no`: all of it is dropped.
void end_context(State& state, Lock& lock, Device& device, Wait wait) {
  end_streams_of(state, lock, device, wait);
  if (wait == Wait::yes) {
    if (!device.arena.blocks.empty()) {
      state.violations.push_back("memory was left behind on device " + std::to_string(device.id));
    }
    for (const auto& [handle, event] : state.events) {
      if (event->context == device.context) state.violations.emplace_back("an event was left behind");
    }
    for (const auto& [handle, binary] : state.binaries) {
      if (binary->context == device.context) state.violations.emplace_back("a binary was left behind");
    }
    for (const std::string& one : mappings_alive(device.context)) {
      state.violations.push_back(one + " was left behind");
    }
  } else {
    device.arena.blocks.clear();
    device.arena.live = 0;
    std::erase_if(state.events, [&](const auto& entry) { return entry.second->context == device.context; });
    std::erase_if(state.functions, [&](const auto& entry) { return entry.second->binary->context == device.context; });
    std::erase_if(state.binaries, [&](const auto& entry) { return entry.second->context == device.context; });
    drop_mappings(device.context);
  }
  device.peers.clear();
  device.context = 0;
}

}  // namespace

void drop(State& state, Lock& lock, Device& device) {
  device.uses = 0;
  device.fault = 0;
  end_context(state, lock, device, Wait::no);
}

}  // namespace standin

using namespace standin;  // NOLINT: the functions below are the stand-in's face

extern "C" {

STANDIN_API int aclInit(const char* config) {
  return call("aclInit", Needs::nothing, [&](State& state, Lock&) {
    if (config != nullptr) return refuse(kParameter, "aclInit: no configuration is expected");
    if (state.initialised) return refuse(kRepeatedInit, "aclInit: repeated");
    state.initialised = true;
    state.finalised = false;
    return int{kOk};
  });
}

STANDIN_API int aclFinalize() {
  return call("aclFinalize", Needs::nothing, [&](State& state, Lock&) {
    if (!state.initialised) {
      return violate(state.finalised ? kRepeatedFinalize : kNotInitialised, "aclFinalize without aclInit");
    }
    for (const auto& [id, device] : state.devices) {
      if (device.uses > 0) state.violations.push_back("aclFinalize while device " + std::to_string(id) + " is set");
    }
    state.initialised = false;
    state.finalised = true;
    write_log(state);
    return int{kOk};
  });
}

STANDIN_API int aclrtSetDevice(std::int32_t id) {
  return call("aclrtSetDevice", Needs::init, [&](State& state, Lock&) {
    if (!is_device(id)) return refuse(kBadDevice, "aclrtSetDevice: there is no device " + std::to_string(id));
    Device& device = state.devices[id];
    if (device.context == 0) device.context = number_of(state.new_handle());
    ++device.uses;
    set_current_context(device.context);
    return int{kOk};
  });
}

STANDIN_API int aclrtResetDevice(std::int32_t id) {
  return call("aclrtResetDevice", Needs::init, [&](State& state, Lock& lock) {
    if (!is_device(id) || state.devices[id].uses == 0) {
      return violate(kBadDevice, "aclrtResetDevice of a device that is not set");
    }
    Device& device = state.devices[id];
    if (--device.uses == 0) end_context(state, lock, device, Wait::yes);
    return int{kOk};
  });
}

STANDIN_API int aclrtResetDeviceForce(std::int32_t id) {
  return call("aclrtResetDeviceForce", Needs::init, [&](State& state, Lock& lock) {
    if (!is_device(id) || state.devices[id].uses == 0) {
      return violate(kBadDevice, "aclrtResetDeviceForce of a device that is not set");
    }
    Device& device = state.devices[id];
    drop(state, lock, device);
    return int{kOk};
  });
}

STANDIN_API int aclrtGetDevice(std::int32_t* out) {
  return call("aclrtGetDevice", Needs::device, [&](State& state, Lock&) {
    *out = current_device(state)->id;
    return int{kOk};
  });
}

STANDIN_API int aclrtGetDeviceCount(std::uint32_t* out) {
  return call("aclrtGetDeviceCount", Needs::init, [&](State&, Lock&) {
    const char* const wanted = std::getenv("STANDIN_DEVICES");
    *out = wanted == nullptr ? kDeviceCount : static_cast<std::uint32_t>(std::atoi(wanted));
    return int{kOk};
  });
}

STANDIN_API int aclrtGetVersion(std::int32_t* major, std::int32_t* minor, std::int32_t* patch) {
  return call("aclrtGetVersion", Needs::init, [&](State&, Lock&) {
    const char* const wanted = std::getenv("STANDIN_VERSION");
    *major = wanted == nullptr ? 1 : std::atoi(wanted);
    *minor = 17;
    *patch = 0;
    return int{kOk};
  });
}

STANDIN_API const char* aclrtGetSocName() {
  static_cast<void>(counted("aclrtGetSocName"));
  return State::get().architecture == 3510 ? "StandIn950" : "StandIn910";
}

STANDIN_API int aclrtGetDeviceInfo(std::uint32_t id, std::int32_t attribute, std::int64_t* out) {
  return call("aclrtGetDeviceInfo", Needs::init, [&](State& state, Lock&) {
    constexpr std::int64_t kClusters = 4;
    if (!is_device(id)) return refuse(kBadDevice, "aclrtGetDeviceInfo: no such device");
    switch (attribute) {
      case 102: *out = kClusters; break;
      case 201: *out = 2 * kClusters; break;
      case 601: *out = state.architecture; break;
      default: return refuse(kBadParameter, "aclrtGetDeviceInfo: no such attribute");
    }
    return int{kOk};
  });
}

STANDIN_API int aclrtDeviceCanAccessPeer(std::int32_t* can, std::int32_t id, std::int32_t peer) {
  return call("aclrtDeviceCanAccessPeer", Needs::init, [&](State& state, Lock&) {
    if (id == peer) return violate(kParameter, "aclrtDeviceCanAccessPeer of a device and itself");
    *can = is_device(id) && is_device(peer) && !state.separated.contains(std::minmax(id, peer)) ? 1 : 0;
    return int{kOk};
  });
}

STANDIN_API int aclrtDeviceEnablePeerAccess(std::int32_t peer, std::uint32_t flags) {
  return call("aclrtDeviceEnablePeerAccess", Needs::device, [&](State& state, Lock&) {
    Device& device = *current_device(state);
    if (flags != 0 || !is_device(peer) || peer == device.id) {
      return violate(kParameter, "aclrtDeviceEnablePeerAccess of itself, or with flags");
    }
    device.peers.insert(peer);
    return int{kOk};
  });
}

STANDIN_API int aclrtDeviceDisablePeerAccess(std::int32_t peer) {
  return call("aclrtDeviceDisablePeerAccess", Needs::device, [&](State& state, Lock&) {
    if (current_device(state)->peers.erase(peer) == 0) {
      return violate(kParameter, "aclrtDeviceDisablePeerAccess of what is not enabled");
    }
    return int{kOk};
  });
}

STANDIN_API int aclrtGetCurrentContext(void** out) {
  return call("aclrtGetCurrentContext", Needs::device, [&](State& state, Lock&) {
    *out = reinterpret_cast<void*>(current_device(state)->context);
    return int{kOk};
  });
}

STANDIN_API int aclrtSetCurrentContext(void* context) {
  return call("aclrtSetCurrentContext", Needs::init, [&](State& state, Lock&) {
    for (const auto& [id, device] : state.devices) {
      if (device.context == 0 || device.context != number_of(context)) continue;
      set_current_context(device.context);
      return int{kOk};
    }
    return violate(kBadHandle, "aclrtSetCurrentContext of a context that is not alive");
  });
}

STANDIN_API int aclrtSetOpExecuteTimeOutV2(std::uint64_t limit_us, std::uint64_t* actual) {
  return call("aclrtSetOpExecuteTimeOutV2", Needs::device, [&](State& state, Lock&) {
    constexpr std::uint64_t kInterval = 1000;
    const bool never = limit_us == 0;
    state.operation_limit_us = never ? UINT64_MAX : (limit_us + kInterval - 1) / kInterval * kInterval;
    *actual = state.operation_limit_us;
    return int{kOk};
  });
}

STANDIN_API const char* aclGetRecentErrMsg() {
  thread_local std::string kept;
  kept = take_text();
  return kept.empty() ? nullptr : kept.c_str();
}

}  // extern "C"
