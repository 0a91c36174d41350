// A window whose parts lie on the devices of its members.
#pragma once

#include <cstdint>
#include <vector>

#include "chip/cores/window_group.hpp"

namespace baton::chip {

/// Ends, with this device's own part, after all members have left.
class DeviceWindow {
 public:
  DeviceWindow() = default;
  DeviceWindow(const DeviceWindow&) = delete;
  DeviceWindow& operator=(const DeviceWindow&) = delete;
  virtual ~DeviceWindow() = default;

  /// By rank: where this device finds them.
  [[nodiscard]] const std::vector<std::uint64_t>& parts() const noexcept { return parts_; }
  /// This device does not reach the parts of others any more. No task uses the window.
  virtual void leave() noexcept = 0;

 protected:
  std::vector<std::uint64_t> parts_;
};

}  // namespace baton::chip
