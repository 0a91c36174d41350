// A window in memory of devices, as a chip has it.
#pragma once

#include <memory>

#include "chip/completion/chip_window.hpp"
#include "chip/cores/local_memory.hpp"
#include "chip/device/device.hpp"
#include "chip/runtime/closing_windows.hpp"

namespace baton::chip {

class DeviceChipWindow final : public ChipWindowState {
 public:
  /// Collective over the group. On any thread; beside a run of the device.
  DeviceChipWindow(Device& device, std::shared_ptr<LocalMemory> known, std::shared_ptr<ClosingWindows> closing,
                   std::unique_ptr<WindowGroup> group, std::string name, std::size_t bytes);
  DeviceChipWindow(const DeviceChipWindow&) = delete;
  DeviceChipWindow& operator=(const DeviceChipWindow&) = delete;
  ~DeviceChipWindow() override;

  [[nodiscard]] const CommContext* context() const override { return static_cast<const CommContext*>(context_.data()); }
  [[nodiscard]] std::byte* part(int rank) const override;
  [[nodiscard]] std::byte* local() const override { return part(static_cast<int>(group_->rank())); }
  void copy_in(std::size_t offset, const void* from, std::size_t count) override;
  void copy_out(void* to, std::size_t offset, std::size_t count) override;
  [[nodiscard]] std::int32_t signal(std::size_t offset) override;
  [[nodiscard]] bool rings() const noexcept override { return false; }

 private:
  void tell_kernels();
  void give_up() noexcept;
  [[nodiscard]] std::uint64_t local_address(std::size_t offset) const;

  std::shared_ptr<ChipMemory> memory_;
  std::shared_ptr<LocalMemory> known_;
  std::shared_ptr<ClosingWindows> closing_;
  std::unique_ptr<WindowGroup> group_;
  std::unique_ptr<DeviceWindow> window_;
  OwnedBuffer context_;
};

}  // namespace baton::chip
