#include "chip/runtime/platform_kind.hpp"

#include "chip/cores/profile.hpp"
#include "chip/device/platform_library.hpp"

namespace baton::chip {

bool shares_devices(const std::string& platform) {
  return !is_simulated(platform) && platform::PlatformLibrary(platform).has("baton_device_open_part");
}

}  // namespace baton::chip
