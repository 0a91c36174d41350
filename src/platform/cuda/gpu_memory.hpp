// Memory that a chip of a GPU uses, and what host and GPU share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "platform/cuda/shared_gpu.hpp"

namespace baton::cuda {

/// Memory of a GPU that ends with this object, of the pool: others may run kernels meanwhile.
class GpuMemory {
 public:
  GpuMemory() = default;
  /// Zeroes are written by a kernel, which may have to wait for multiprocessors.
  enum class Content : std::uint8_t { zeroes, anything };
  /// `stream` outlives it.
  GpuMemory(SharedGpu& gpu, Stream stream, std::size_t bytes, Content content);
  GpuMemory(GpuMemory&& other) noexcept
      : address_(std::exchange(other.address_, 0)), bytes_(other.bytes_), stream_(other.stream_) {}
  GpuMemory& operator=(GpuMemory&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory();

  [[nodiscard]] DevicePointer address() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  template <class Element>
  [[nodiscard]] Element* as() const noexcept {
    return reinterpret_cast<Element*>(address_);
  }

 private:
  DevicePointer address_ = 0;
  std::size_t bytes_ = 0;
  Stream stream_ = nullptr;
};

/// Memory of the host that the GPU reads and writes. Host and GPU have the same addresses.
class PinnedMemory {
 public:
  /// Zeroed.
  PinnedMemory(SharedGpu& gpu, std::size_t bytes) : gpu_(gpu) {
    constexpr unsigned kMapped = 2;
    Driver::get().check("allocating memory that GPU and host share",
                        Driver::get().host_alloc(&memory_, bytes, kMapped));
    std::memset(memory_, 0, bytes);
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() {
    gpu_.when_idle([memory = memory_] { Driver::get().host_free(memory); });
  }
  [[nodiscard]] void* get() const noexcept { return memory_; }

 private:
  SharedGpu& gpu_;
  void* memory_ = nullptr;
};

/// The same with one record in it.
template <class Record>
class PinnedRecord {
 public:
  explicit PinnedRecord(SharedGpu& gpu) : memory_(gpu, sizeof(Record)), record_(new (memory_.get()) Record{}) {}
  [[nodiscard]] Record* operator->() const noexcept { return record_; }
  [[nodiscard]] Record* get() const noexcept { return record_; }

 private:
  PinnedMemory memory_;
  Record* record_;
};

}  // namespace baton::cuda
