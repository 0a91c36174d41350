// A window of a device behind libbaton_<platform>.so.
#pragma once

#include <memory>

#include "chip/device/device_window.hpp"
#include "chip/device/library_device.hpp"

namespace baton::chip {

class LibraryWindow final : public DeviceWindow {
 public:
  /// Collective over the group, which lives until leave(). Throws Error: what went wrong here, or at the member that it
  /// names.
  LibraryWindow(std::shared_ptr<OpenDevice> open, WindowGroup& group, std::size_t bytes);
  LibraryWindow(const LibraryWindow&) = delete;
  LibraryWindow& operator=(const LibraryWindow&) = delete;
  ~LibraryWindow() override;

  void leave() noexcept override;

 private:
  std::shared_ptr<OpenDevice> open_;
  const WindowGroup& group_;
  BatonDeviceWindow* window_ = nullptr;
};

}  // namespace baton::chip
