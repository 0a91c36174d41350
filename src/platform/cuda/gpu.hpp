// A chip: a GPU, or a part of one. Its streams, its memory, and the numbers of its cores.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pto/target/cuda/run.hpp>

#include "platform/cuda/gpu_clock.hpp"
#include "platform/cuda/gpu_memory.hpp"
#include "platform/cuda/shared_gpu.hpp"

namespace baton::cuda {

/// Types of tiles: Vec, Mat, Left, Right, Acc, Bias, Scaling.
inline constexpr std::size_t kBufferTypes = 7;

/// After the limit of a run its cores leave by themselves, but for one in a loop of its own.
inline constexpr std::chrono::seconds kGrace{2};

/// A stream that ends with this object.
class OwnedStream {
 public:
  /// Waits for what others do on the default stream, where PyTorch and CuPy work, and they for it; or for nobody.
  enum class Waits : std::uint8_t { for_default_stream, for_nobody };
  explicit OwnedStream(Waits waits);
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  ~OwnedStream() { Driver::get().stream_destroy(stream_); }
  [[nodiscard]] Stream get() const noexcept { return stream_; }
  /// Until it is done.
  void wait(const char* what) const { Driver::get().check(what, Driver::get().stream_wait(stream_)); }

 private:
  Stream stream_ = nullptr;
};

class Program;
class Residence;

/// Memory and copies: any thread. The rest: one at a time.
class Gpu {
 public:
  /// GPU `ordinal`, whole.
  static std::unique_ptr<Gpu> whole(int ordinal);
  /// Device `id` of `count`: of the GPUs that there are each is divided into as many parts as it takes.
  static std::unique_ptr<Gpu> part(int id, int count);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  void make_current() const { shared_->make_current(); }
  [[nodiscard]] SharedGpu& shared() const noexcept { return *shared_; }
  /// Each of them is a thread block. At first there is one for each multiprocessor.
  [[nodiscard]] int core_count() const noexcept { return cores_; }
  /// Another number of cores, before anything runs: those that share a multiprocessor share its memory and its lanes.
  void divide(int cores);
  [[nodiscard]] unsigned threads_of_core() const noexcept { return threads_; }
  [[nodiscard]] const std::array<std::uint64_t, kBufferTypes>& buffer_bytes() const noexcept { return buffer_bytes_; }
  /// Shared memory of a core for tiles that the matrix unit reads; 0 if cores are too small for it, or the driver too
  /// old.
  [[nodiscard]] std::uint32_t window_bytes() const noexcept { return window_bytes_; }
  /// A map of a matrix for each box that cores load: pto/target/cuda/run.hpp.
  [[nodiscard]] DevicePointer boxes();
  /// What graphs run on.
  [[nodiscard]] Stream stream() const noexcept { return runs_.get(); }
  /// Cores that stay between runs; null: they do not (BATON_GPU_STAY).
  [[nodiscard]] Residence* residence();
  /// What a run needs for strict pipes, if its program has them.
  void describe_order(Run& run, const Program& program);
  /// Compared with the host a short while ago: maybe now, by code of `program`; cores that stay leave then. While
  /// nothing runs on this chip.
  [[nodiscard]] const GpuClock& clock(const Program& program);
  /// Until what others have begun on the default stream is done, where that is waited for.
  void wait_for_default_stream() const;
  /// What a run is told of the buffers of its cores, but for where those of cube cores are.
  void describe_buffers(Run& run) const noexcept;
  /// What became of the graph that ran last.
  [[nodiscard]] Failure* failure() const noexcept { return failure_.get(); }

  [[nodiscard]] GpuMemory memory(std::size_t bytes, GpuMemory::Content content = GpuMemory::Content::zeroes) const {
    return {*shared_, copies_.get(), bytes, content};
  }
  [[nodiscard]] DevicePointer alloc(std::size_t bytes);
  void free(DevicePointer address);
  // Done when they return.
  void copy_in(const char* what, DevicePointer to, const void* from, std::size_t bytes) const;
  void copy_out(const char* what, void* to, DevicePointer from, std::size_t bytes) const;
  void clear(const char* what, DevicePointer to, std::size_t bytes) const;
  /// Under way when it returns, beside what runs.
  void set_word(const char* what, DevicePointer to, unsigned value) const;

 private:
  Gpu(int ordinal, int parts, OwnedStream::Waits waits);

  std::shared_ptr<SharedGpu> shared_;
  int multiprocessors_;
  OwnedStream::Waits waits_;
  OwnedStream runs_;
  OwnedStream copies_;
  PinnedRecord<Failure> failure_;
  int cores_ = 0;
  unsigned threads_ = 0;
  std::array<std::uint64_t, kBufferTypes> buffer_bytes_{};
  std::uint32_t window_bytes_ = 0;
  GpuMemory boxes_;
  GpuMemory order_;    // of strict pipes
  GpuMemory windows_;  // likewise
  std::vector<Extent> windows_there_;
  std::mutex mutex_;
  std::map<DevicePointer, GpuMemory> memory_;  // guarded by mutex_
  std::unique_ptr<Residence> residence_;
  GpuClock clock_;
  std::unique_ptr<PinnedRecord<ClockWords>> clock_words_;
};

}  // namespace baton::cuda
