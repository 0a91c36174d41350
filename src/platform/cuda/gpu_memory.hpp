// Memory that a chip of a GPU uses, and what host and GPU share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "platform/cuda/shared_gpu.hpp"

namespace baton::cuda {

/// Memory of a GPU that ends with this object, of the pool: others may run kernels meanwhile.
class GpuMemory {
 public:
  GpuMemory() = default;
  /// Zeroed. `stream` outlives it.
  GpuMemory(const SharedGpu& gpu, Stream stream, std::size_t bytes);
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

/// Memory of the host that the GPU writes to.
template <class Record>
class PinnedRecord {
 public:
  explicit PinnedRecord(SharedGpu& gpu) : gpu_(gpu) {
    constexpr unsigned kMapped = 2;
    void* memory = nullptr;
    Driver::get().check("allocating memory that GPU and host share",
                        Driver::get().host_alloc(&memory, sizeof(Record), kMapped));
    record_ = new (memory) Record{};
  }
  PinnedRecord(const PinnedRecord&) = delete;
  PinnedRecord& operator=(const PinnedRecord&) = delete;
  ~PinnedRecord() {
    gpu_.when_idle([record = record_] { Driver::get().host_free(record); });
  }
  [[nodiscard]] Record* operator->() const noexcept { return record_; }
  /// Host and GPU have the same addresses.
  [[nodiscard]] Record* get() const noexcept { return record_; }

 private:
  SharedGpu& gpu_;
  Record* record_;
};

}  // namespace baton::cuda
