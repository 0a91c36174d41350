// An open device of a platform, and its membership in a communication group.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "chip/device/platform_library.hpp"

namespace baton::platform {

class Device {
 public:
  Device(const std::string& platform, int id) : library_(platform), id_(id) {
    library_.check("baton_device_open", library_.open(id, &device_));
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    if (comm_ != nullptr && library_.comm_destroy) static_cast<void>(library_.comm_destroy(comm_));
    static_cast<void>(library_.close(device_));
  }

  [[nodiscard]] const PlatformLibrary& library() const noexcept { return library_; }
  [[nodiscard]] BatonDevice* get() const noexcept { return device_; }
  [[nodiscard]] int id() const noexcept { return id_; }

  /// The group, or an Error in the name of `function`.
  [[nodiscard]] void* comm(const char* function) const;
  [[nodiscard]] bool has_comm() const noexcept { return comm_ != nullptr; }
  void set_comm(void* comm) noexcept { comm_ = comm; }

  /// Bytes of live allocations, by address.
  std::map<std::uint64_t, std::uint64_t> allocations;

 private:
  PlatformLibrary library_;
  int id_;
  BatonDevice* device_ = nullptr;
  void* comm_ = nullptr;
};

}  // namespace baton::platform
