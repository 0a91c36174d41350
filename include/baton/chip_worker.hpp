// One device of a platform that is loaded at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <baton/export.hpp>
#include <baton/graph.hpp>
#include <baton/memory_place.hpp>
#include <baton/tensor.hpp>

namespace baton {

namespace platform {
class Device;
}

/// Loads libbaton_<platform>.so and drives one device of it. One thread at a time. Functions that the library lacks are
/// an error (unsupported) when they are called, not before.
class BATON_API ChipWorker {
 public:
  /// `platform` is a name, "a2a3sim", or the path of a library. Throws Error (unsupported) if there is no such library,
  /// it is of another version, or lacks a function that every platform has.
  explicit ChipWorker(const std::string& platform, int device_id = 0);
  ChipWorker(ChipWorker&&) noexcept;
  ChipWorker& operator=(ChipWorker&&) noexcept;
  ~ChipWorker();

  /// The library that was loaded.
  [[nodiscard]] const std::string& library() const;
  [[nodiscard]] int device_id() const;
  /// Whether the platform has this function, required or optional: has("comm_init").
  [[nodiscard]] bool has(std::string_view function) const;

  /// Where the memory of the device lies. Unless that is the host, only copies and kernels reach it.
  [[nodiscard]] MemoryPlace memory_place() const;

  /// Zeroed memory of the device. It ends with free() or the device.
  [[nodiscard]] Buffer alloc(std::size_t bytes);
  void free(const Buffer& memory);
  /// Complete when they return.
  void copy_in(const Buffer& to, std::span<const std::byte> from, std::size_t offset = 0);
  void copy_out(std::span<std::byte> to, const Buffer& from, std::size_t offset = 0);

  /// A kernel on the device, until it is closed.
  class LoadedKernel {
   public:
    LoadedKernel() = default;

   private:
    friend class ChipWorker;
    explicit LoadedKernel(void* kernel) noexcept : kernel_(kernel) {}
    void* kernel_ = nullptr;
  };
  /// The kernel `name` of a library that `baton compile` made.
  [[nodiscard]] LoadedKernel load_kernel(const std::string& path, const std::string& name = "kernel_entry");
  /// Runs blocks of a kernel and returns when all have ended.
  void run(const LoadedKernel& kernel, std::span<const Argument> arguments, std::uint32_t blocks = 1);

  /// The communication group. comm_init() blocks until all ranks have joined; before the first allocation.
  void comm_init(int rank, int nranks, const std::string& rendezvous);
  /// The address of this rank's CommContext.
  [[nodiscard]] std::uint64_t comm_alloc_windows(std::size_t bytes);
  [[nodiscard]] std::uint64_t comm_get_local_window_base();
  [[nodiscard]] std::size_t comm_get_window_size();
  void comm_barrier();
  void comm_destroy();

  /// Leaves the group and closes the device. Further calls are errors (released).
  void close();

 private:
  [[nodiscard]] platform::Device& device() const;
  std::unique_ptr<platform::Device> device_;
};

}  // namespace baton
