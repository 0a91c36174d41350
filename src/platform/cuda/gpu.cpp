#include "platform/cuda/gpu.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/options.hpp>

#include <pto/order/order_memory.hpp>

#include "platform/cuda/compare_clocks.hpp"
#include "platform/cuda/program.hpp"
#include "platform/cuda/residence.hpp"

namespace baton::cuda {
namespace {

constexpr std::uint64_t kKiB = 1024;
/// What the matrix unit reads begins at a multiple of this.
constexpr std::uint32_t kWindowUnit = 1024;
/// A tile begins at a multiple of this, and smaller cores than with so much of Vec are of no use.
constexpr std::uint64_t kTileAlignment = 512;
constexpr int kLeastVec = 8 * kKiB;

int gpu_count() {
  const Driver& driver = Driver::get();
  int count = 0;
  driver.check("counting GPUs", driver.device_count(&count));
  return count;
}

/// Opened, and in use by the calling thread.
std::shared_ptr<SharedGpu> opened(int ordinal) {
  std::shared_ptr<SharedGpu> gpu = SharedGpu::open(ordinal);
  gpu->make_current();
  return gpu;
}

}  // namespace

GpuMemory::GpuMemory(SharedGpu& gpu, Stream stream, std::size_t bytes, Content content)
    : bytes_(bytes), stream_(stream) {
  const Driver& driver = Driver::get();
  const std::size_t taken = std::max<std::size_t>(bytes, 1);
  if (content == Content::zeroes) gpu.make_way();
  driver.check("allocating memory of the GPU", driver.pool_alloc(&address_, taken, gpu.pool(), stream));
  if (content == Content::zeroes) {
    driver.check("clearing memory of the GPU", driver.set_bytes(address_, 0, taken, stream));
  }
  driver.check("clearing memory of the GPU", driver.stream_wait(stream));
}

GpuMemory::~GpuMemory() {
  if (address_ != 0) Driver::get().pool_free(address_, stream_);
}

OwnedStream::OwnedStream(Waits waits) {
  constexpr unsigned kForNobody = 1;  // CU_STREAM_NON_BLOCKING
  const Driver& driver = Driver::get();
  driver.check("making a stream", driver.stream_create(&stream_, waits == Waits::for_nobody ? kForNobody : 0));
}

std::unique_ptr<Gpu> Gpu::whole(int ordinal) {
  const int count = gpu_count();
  if (ordinal < 0 || ordinal >= count) {
    throw Error(Code::out_of_range, fmt::format("there is no GPU {}: this machine has {}", ordinal, count));
  }
  return std::unique_ptr<Gpu>(new Gpu(ordinal, 1, OwnedStream::Waits::for_default_stream));
}

std::unique_ptr<Gpu> Gpu::part(int id, int count) {
  const int gpus = gpu_count();
  if (id < 0 || id >= count) throw Error(Code::out_of_range, fmt::format("device {} is not one of {}", id, count));
  if (gpus == 0) throw Error(Code::unsupported, "this machine has no NVIDIA GPU");
  const int ordinal = id % gpus;
  const int parts = (count - ordinal + gpus - 1) / gpus;
  // Kernels of one chip may wait for those of another: neither may wait for the default stream, nor make it wait.
  return std::unique_ptr<Gpu>(new Gpu(ordinal, parts, OwnedStream::Waits::for_nobody));
}

Gpu::Gpu(int ordinal, int parts, OwnedStream::Waits waits)
    : shared_(opened(ordinal)),
      multiprocessors_(shared_->attribute(DeviceAttribute::multiprocessors) / parts),
      waits_(waits),
      runs_(waits),
      copies_(waits),
      failure_(*shared_) {
  if (multiprocessors_ == 0) {
    throw Error(Code::out_of_range,
                fmt::format("GPU {} does not have a multiprocessor for each of {} chips", ordinal, parts));
  }
  divide(multiprocessors_);
}

Gpu::~Gpu() {
  Driver::get().context_set(shared_->context());
  residence_.reset();
  memory_.clear();
}

void Gpu::divide(int cores) {
  const int share = (cores + multiprocessors_ - 1) / multiprocessors_;
  threads_ = cuda::threads_of_core(static_cast<std::uint32_t>(share));
  const int shared = std::min(shared_->attribute(DeviceAttribute::shared_bytes_with_consent),
                              shared_->attribute(DeviceAttribute::shared_bytes_of_multiprocessor) / share -
                                  shared_->attribute(DeviceAttribute::shared_bytes_of_driver)) -
                     static_cast<int>(kControlBytes);
  if (threads_ == 0 || shared < kLeastVec) {
    throw Error(Code::out_of_range, fmt::format("{} multiprocessors do not have memory and registers for {} cores",
                                                multiprocessors_, cores));
  }
  cores_ = cores;
  std::ranges::copy(cuda::kBufferBytes, buffer_bytes_.begin());
  buffer_bytes_[0] = std::min(buffer_bytes_[0], static_cast<std::uint64_t>(shared) / kTileAlignment * kTileAlignment);
  const bool has_matrix_unit = share == 1 && threads_ == kMostThreads && Driver::get().encode_map != nullptr;
  window_bytes_ = has_matrix_unit ? static_cast<std::uint32_t>(shared) / kWindowUnit * kWindowUnit : 0;
}

DevicePointer Gpu::boxes() {
  if (boxes_.address() != 0) return boxes_.address();
  GpuMemory made = memory(std::size_t{kBoxes} * kMapBytes);
  // In any matrix: cores say which one.
  constexpr std::uint64_t kSizes[2] = {4096, 4096};
  constexpr std::uint64_t kPitch[1] = {8192};
  constexpr std::uint32_t kSteps[2] = {1, 1};
  // Of the driver's enumerations.
  constexpr int kUint16 = 1;
  constexpr int kNotInterleaved = 0;
  constexpr int kPromoteTo256Bytes = 3;
  constexpr int kFillWithZero = 0;
  struct alignas(64) Map {
    std::byte bytes[kMapBytes];
  };
  std::vector<Map> maps(kBoxes);
  for (std::uint32_t box = 0; box < kBoxes; ++box) {
    const std::uint32_t size[2] = {box_width(box), box_lines(box)};
    const int swizzle = 1 + static_cast<int>(box / kBoxHeights);  // lines of 32, 64 or 128 bytes
    Driver::get().check(
        "describing a box",
        Driver::get().encode_map(&maps[box], kUint16, 2, reinterpret_cast<void*>(made.address()), kSizes, kPitch, size,
                                 kSteps, kNotInterleaved, swizzle, kPromoteTo256Bytes, kFillWithZero));
  }
  copy_in("describing boxes", made.address(), maps.data(), maps.size() * sizeof(Map));
  boxes_ = std::move(made);
  return boxes_.address();
}

Residence* Gpu::residence() {
  if (!residence_ && options().gpu_stay.count() > 0) residence_ = std::make_unique<Residence>(*this);
  return residence_.get();
}

const GpuClock& Gpu::clock(const Program& program) {
  if (clock_.is_fresh(GpuClock::host_now())) return clock_;
  if (residence_) residence_->leave();
  if (!clock_words_) clock_words_ = std::make_unique<PinnedRecord<ClockWords>>(*shared_);
  compare_clocks(clock_, *clock_words_->get(), program.tell_time(), runs_.get());
  return clock_;
}

void Gpu::wait_for_default_stream() const {
  if (waits_ == OwnedStream::Waits::for_nobody) return;
  // No stream is the default one.
  const Driver& driver = Driver::get();
  const Result result = driver.stream_query(nullptr);
  if (result != 0) driver.check("waiting for the default stream", driver.stream_wait(nullptr));
}

void Gpu::describe_buffers(Run& run) const noexcept {
  std::uint64_t cube_bytes = 0;
  for (std::size_t type = 0; type < kBufferTypes; ++type) {
    run.buffer_bytes[type] = buffer_bytes_[type];
    if (type == 0) continue;
    run.cube_offsets[type] = cube_bytes;
    cube_bytes += buffer_bytes_[type];
  }
  run.cube_bytes = cube_bytes;
}

void Gpu::describe_order(Run& run, const Program& program) {
  if (!program.is_strict()) return;
  if (order_.address() == 0) {
    order_ = memory(static_cast<std::size_t>(cores_) * sizeof(kernel::OrderMemory), GpuMemory::Content::anything);
  }
  std::vector<Extent> windows = shared_->windows();
  const auto same = [](const Extent& a, const Extent& b) { return a.begin == b.begin && a.bytes == b.bytes; };
  if (!std::ranges::equal(windows, windows_there_, same)) {
    windows_there_ = std::move(windows);
    const std::size_t bytes = windows_there_.size() * sizeof(Extent);
    if (windows_.bytes() < bytes) windows_ = memory(2 * bytes, GpuMemory::Content::anything);
    copy_in("telling the GPU of windows", windows_.address(), windows_there_.data(), bytes);
  }
  run.order = order_.as<kernel::OrderMemory>();
  run.windows = windows_.as<const Extent>();
  run.window_count = windows_there_.size();
}

DevicePointer Gpu::alloc(std::size_t bytes) {
  GpuMemory made = memory(bytes);
  const DevicePointer address = made.address();
  const std::lock_guard lock(mutex_);
  memory_.emplace(address, std::move(made));
  return address;
}

void Gpu::free(DevicePointer address) {
  const std::lock_guard lock(mutex_);
  if (memory_.erase(address) == 0) throw Error(Code::released, "no live memory has this address");
}

void Gpu::copy_in(const char* what, DevicePointer to, const void* from, std::size_t bytes) const {
  Driver::get().check(what, Driver::get().copy_in(to, from, bytes, copies_.get()));
  copies_.wait(what);
}

void Gpu::copy_out(const char* what, void* to, DevicePointer from, std::size_t bytes) const {
  Driver::get().check(what, Driver::get().copy_out(to, from, bytes, copies_.get()));
  copies_.wait(what);
}

void Gpu::clear(const char* what, DevicePointer to, std::size_t bytes) const {
  Driver::get().check(what, Driver::get().set_bytes(to, 0, bytes, copies_.get()));
  copies_.wait(what);
}

void Gpu::set_word(const char* what, DevicePointer to, unsigned value) const {
  Driver::get().check(what, Driver::get().set_words(to, value, 1, copies_.get()));
}

}  // namespace baton::cuda
