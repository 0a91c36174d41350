// What a core reaches outside itself: the memory of its chip and the windows of its domains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <baton/signal.hpp>

#include "base/parking.hpp"

namespace baton::chip {

/// Passed to cores, so that they need not know of domains. Any thread may call any function.
class GlobalMemory {
 public:
  GlobalMemory() = default;
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  virtual ~GlobalMemory() = default;

  /// Whether [begin, begin + bytes) lies inside one buffer or one part of a window.
  [[nodiscard]] virtual bool known(const void* begin, std::size_t bytes) const = 0;
  /// For messages: what lies closest to an address that is not known.
  [[nodiscard]] virtual std::string describe_nearest(const void* address) const = 0;

  /// Changes a signal and wakes whoever waits for it. A release.
  virtual void notify(std::int32_t* signal, std::int32_t value, NotifyOp op) = 0;
  /// Returns when the comparison holds; throws Error otherwise. An acquire. On a fiber, only the fiber waits.
  virtual void wait(const std::int32_t* signal, WaitCmp comparison, std::int32_t value) = 0;
  [[nodiscard]] virtual bool test(const std::int32_t* signal, WaitCmp comparison, std::int32_t value) = 0;

  /// Where fibers that wait for something of this chip sleep: whoever changes it rings this.
  [[nodiscard]] virtual ParkingPlace parking_place() const = 0;
};

}  // namespace baton::chip
