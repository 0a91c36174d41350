// The communication group of a device whose platform has windows: over the rendezvous of ranks, as a chip has it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <baton/domain.hpp>

#include "base/function_ref.hpp"
#include "chip/cores/local_memory.hpp"
#include "chip/device/library_device.hpp"
#include "chip/runtime/closing_windows.hpp"
#include "chip/runtime/device_chip_window.hpp"

namespace baton::platform {

class WorkerGroup {
 public:
  /// Blocks until all ranks have joined.
  WorkerGroup(const std::shared_ptr<chip::OpenDevice>& device, int rank, int size, const std::string& rendezvous);

  /// Collective, once. Returns the address of the context.
  [[nodiscard]] std::uint64_t alloc_windows(std::size_t bytes);
  [[nodiscard]] std::uint64_t window_base() const;
  [[nodiscard]] std::size_t window_bytes() const;
  void barrier() { domain_.barrier(); }

  /// Calls `extent(begin, bytes)` for what kernels reach because of it.
  void for_each_extent(FunctionRef<void(std::uintptr_t, std::size_t)> extent) const { known_->for_each_buffer(extent); }

 private:
  [[nodiscard]] const chip::DeviceChipWindow& window() const;

  Domain domain_;
  std::shared_ptr<chip::LocalMemory> known_ = std::make_shared<chip::LocalMemory>();
  chip::LibraryDevice device_;
  std::shared_ptr<chip::ClosingWindows> closing_ = std::make_shared<chip::ClosingWindows>();
  std::unique_ptr<chip::DeviceChipWindow> window_;
};

}  // namespace baton::platform
