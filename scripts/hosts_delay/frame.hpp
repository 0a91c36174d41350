// A frame on its way, and room for a bounded number of them.
#pragma once

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <vector>

#include "clock.hpp"

namespace delay {

/// As a packet socket gives and takes it: behind the header with which kernels hand over what they have not cut up yet.
struct Frame {
  static constexpr std::size_t kHeaderBytes = 10;  // struct virtio_net_hdr
  static constexpr std::size_t kAddressBytes = 6;
  /// The longest that is not cut up, its headers, and what is in front.
  static constexpr std::size_t kMostBytes = std::size_t{68} * 1024;

  using Address = std::array<std::byte, kAddressBytes>;
  [[nodiscard]] Address target() const noexcept { return address_at(kHeaderBytes); }
  [[nodiscard]] Address source() const noexcept { return address_at(kHeaderBytes + kAddressBytes); }
  [[nodiscard]] static bool is_for_many(const Address& address) noexcept {
    return (address.front() & std::byte{1}) != std::byte{0};
  }

  std::byte* data;
  std::size_t bytes;
  Nanoseconds sent;  // when the kernel of its sender handed it over
  Nanoseconds due;

 private:
  [[nodiscard]] Address address_at(std::size_t offset) const noexcept {
    Address address{};
    for (std::size_t i = 0; i < address.size(); ++i) address[i] = data[offset + i];
    return address;
  }
};

class FrameRoom {
 public:
  explicit FrameRoom(std::size_t frames) : bytes_(frames * Frame::kMostBytes) {
    // Pages that no frame has reached take no memory.
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "memory for frames");
    for (std::size_t i = frames; i-- > 0;) {
      free_.push_back(static_cast<std::byte*>(memory_) + i * Frame::kMostBytes);
    }
  }
  FrameRoom(const FrameRoom&) = delete;
  FrameRoom& operator=(const FrameRoom&) = delete;
  ~FrameRoom() { munmap(memory_, bytes_); }

  [[nodiscard]] std::size_t left() const noexcept { return free_.size(); }
  [[nodiscard]] std::byte* take() {
    std::byte* const place = free_.back();
    free_.pop_back();
    return place;
  }
  void give_back(std::byte* place) { free_.push_back(place); }

 private:
  std::size_t bytes_;
  void* memory_;
  std::vector<std::byte*> free_;
};

}  // namespace delay
