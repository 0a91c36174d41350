// Windows that a chip has given up. Its own parts of them stay until no peer reaches them any more: kernels of peers
// may still write there, and a device that frees memory under them fails.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "chip/device/chip_memory.hpp"
#include "chip/device/device_window.hpp"

namespace baton::chip {

/// Made on the thread of the chip.
class ClosingWindows {
 public:
  ClosingWindows() = default;
  ClosingWindows(const ClosingWindows&) = delete;
  ClosingWindows& operator=(const ClosingWindows&) = delete;
  /// Waits for the peers.
  ~ClosingWindows();

  /// Any thread. The window is left at once on that of the chip, when no task runs; else with the next sweep(). After
  /// a run that failed, and while an exception ends its use, its members learn that this one has failed.
  void add(std::unique_ptr<DeviceWindow> window, std::unique_ptr<WindowGroup> group, OwnedBuffer context);
  /// Leaves those that are not left yet, ends those that nobody reaches. On the thread of the chip, while no task runs.
  void sweep();

  /// How the newest run of the chip ended: nothing while it goes well. Any thread.
  void note_failure(const std::optional<Error>& failure);

 private:
  struct Closing {
    std::unique_ptr<DeviceWindow> window;
    std::unique_ptr<WindowGroup> group;
    OwnedBuffer context;
    bool left = false;
  };

  void leave_all();

  const std::thread::id chip_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<Closing> windows_;  // guarded by mutex_
  std::optional<Error> failure_;  // likewise
};

}  // namespace baton::chip
