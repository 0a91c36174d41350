// Where memory lies.
#pragma once

#include <cstdint>

namespace baton {

/// Where memory lies, by the numbers of DLPack.
struct MemoryPlace {
  static constexpr std::int32_t kUnnamed = 0;  // of a device for which DLPack has no number
  static constexpr std::int32_t kHost = 1;     // what this process addresses
  static constexpr std::int32_t kCuda = 2;     // an NVIDIA GPU

  std::int32_t kind = kHost;
  std::int32_t device = 0;  // which one of this kind

  [[nodiscard]] bool is_host() const noexcept { return kind == kHost; }
  friend bool operator==(const MemoryPlace&, const MemoryPlace&) = default;
};

}  // namespace baton
