// Memory in whole pages: zeroed, and not there until it is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <baton/tensor.hpp>

namespace baton::chip {

class Pages {
 public:
  Pages() = default;
  /// Throws Error (out_of_memory) if the machine refuses.
  explicit Pages(std::size_t bytes);
  Pages(Pages&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Pages();

  [[nodiscard]] void* data() const noexcept { return memory_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Of outputs and allocations: a cache line, and what tiles are aligned to.
inline constexpr std::uint64_t kChipAlignment = 64;

[[nodiscard]] inline Buffer buffer_of(const Pages& pages) noexcept {
  return {.address = reinterpret_cast<std::uint64_t>(pages.data()), .bytes = pages.bytes()};
}

}  // namespace baton::chip
