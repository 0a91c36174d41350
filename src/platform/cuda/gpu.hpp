// One GPU, opened: its context, its memory, and the numbers of its cores.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/cuda/driver.hpp"
#include "platform/cuda/image.hpp"

namespace baton::cuda {

/// Types of tiles: Vec, Mat, Left, Right, Acc, Bias, Scaling.
inline constexpr std::size_t kBufferTypes = 7;

/// A function of a device that a library brought.
struct LoadedKernel {
  const Image* image;
  std::string name;
  std::string symbol;
};

/// Memory of a GPU that ends with this object.
class GpuMemory {
 public:
  GpuMemory() = default;
  /// Zeroed.
  explicit GpuMemory(std::size_t bytes);
  GpuMemory(GpuMemory&& other) noexcept : address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}
  GpuMemory& operator=(GpuMemory&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
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
};

class Program;

class Gpu {
 public:
  explicit Gpu(int ordinal);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  /// The calling thread works with this GPU from now on.
  void make_current() const { Driver::get().check("using the GPU", Driver::get().context_set(context_)); }
  /// Its number on this machine.
  [[nodiscard]] int ordinal() const noexcept { return ordinal_; }
  /// Each of them is a thread block. At first there is one for each multiprocessor.
  [[nodiscard]] int core_count() const noexcept { return cores_; }
  /// Another number of cores, before anything runs: those that share a multiprocessor share its memory and its lanes.
  void divide(int cores);
  [[nodiscard]] unsigned threads_of_core() const noexcept { return threads_; }
  [[nodiscard]] const std::array<std::uint64_t, kBufferTypes>& buffer_bytes() const noexcept { return buffer_bytes_; }
  /// As compilers call it: sm_90a.
  [[nodiscard]] const std::string& architecture() const noexcept { return architecture_; }
  [[nodiscard]] Stream stream() const noexcept { return stream_; }

  [[nodiscard]] LoadedKernel* load(const std::string& path, const std::string& name);
  /// All kernels that are loaded, linked; the same one until another kernel is loaded.
  [[nodiscard]] std::shared_ptr<const Program> program();

  std::map<DevicePointer, GpuMemory> memory;

 private:
  [[nodiscard]] int attribute(DeviceAttribute which) const;

  int ordinal_;
  DeviceNumber device_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  int cores_ = 0;
  unsigned threads_ = 0;
  std::string architecture_;
  std::array<std::uint64_t, kBufferTypes> buffer_bytes_{};
  std::map<std::string, std::unique_ptr<Image>> images_;
  std::vector<std::unique_ptr<LoadedKernel>> kernels_;
  std::shared_ptr<const Program> program_;
};

}  // namespace baton::cuda
