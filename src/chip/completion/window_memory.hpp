// The memory of a chip that is a rank of a domain: its own buffers and the windows of its domains. Here, and nowhere
// else, a chip meets the communication layer.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>

#include "chip/cores/global_memory.hpp"
#include "comm/world.hpp"

namespace baton::chip {

class WindowMemory final : public GlobalMemory {
 public:
  /// A chip that is `world`'s rank.
  explicit WindowMemory(std::shared_ptr<comm::World> world) : world_(std::move(world)) {}

  /// Makes `bytes` at `begin` known to kernels under `name`, until remove().
  void add_buffer(const void* begin, std::size_t bytes, std::string name);
  void remove_buffer(const void* begin);

  [[nodiscard]] bool known(const void* begin, std::size_t bytes) const override;
  [[nodiscard]] std::string describe_nearest(const void* address) const override;
  void notify(std::int32_t* signal, std::int32_t value, NotifyOp op) override;
  void wait(const std::int32_t* signal, WaitCmp comparison, std::int32_t value) override;
  [[nodiscard]] bool test(const std::int32_t* signal, WaitCmp comparison, std::int32_t value) override;
  [[nodiscard]] ParkingPlace parking_place() const override { return world_->parking_place(); }

 private:
  struct Buffer {
    std::size_t bytes;
    std::string name;
  };
  [[nodiscard]] bool in_buffer(const void* begin, std::size_t bytes) const;
  void wait_in_buffer(const std::int32_t* signal, WaitCmp comparison, std::int32_t value);

  std::shared_ptr<comm::World> world_;
  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, Buffer> buffers_;  // guarded by mutex_
};

}  // namespace baton::chip
