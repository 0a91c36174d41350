// An open device of a platform, and its membership in a communication group.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "chip/device/library_device.hpp"
#include "platform/worker_group.hpp"

namespace baton::platform {

class Device {
 public:
  Device(const std::string& platform, int id)
      : open_(std::make_shared<chip::OpenDevice>(platform, chip::OpenDevice::Wanted{.device = id})), id_(id) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    if (comm_ != nullptr && library().comm_destroy) static_cast<void>(library().comm_destroy(comm_));
  }

  [[nodiscard]] const PlatformLibrary& library() const noexcept { return open_->library(); }
  [[nodiscard]] const std::shared_ptr<chip::OpenDevice>& open() const noexcept { return open_; }
  [[nodiscard]] BatonDevice* get() const noexcept { return open_->get(); }
  [[nodiscard]] int id() const noexcept { return id_; }

  /// The group, or an Error in the name of `function`.
  [[nodiscard]] void* comm(const char* function) const;
  [[nodiscard]] WorkerGroup& joined(const char* function) const;
  [[nodiscard]] bool has_comm() const noexcept { return comm_ != nullptr || group; }
  /// Whether groups are made of its windows. Functions by the names of comm.h say nothing then: a library that is
  /// linked with libbaton has those.
  [[nodiscard]] bool groups_by_windows() const noexcept { return static_cast<bool>(library().window_open); }
  void set_comm(void* comm) noexcept { comm_ = comm; }

  /// Bytes of live allocations, by address.
  std::map<std::uint64_t, std::uint64_t> allocations;
  /// Of a platform that groups_by_windows().
  std::unique_ptr<WorkerGroup> group;

 private:
  void check_joined(const char* function) const;

  std::shared_ptr<chip::OpenDevice> open_;
  int id_;
  void* comm_ = nullptr;
};

}  // namespace baton::platform
