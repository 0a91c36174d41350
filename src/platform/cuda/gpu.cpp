#include "platform/cuda/gpu.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <baton/error.hpp>

#include <pto/target/cuda/run.hpp>

#include "platform/cuda/program.hpp"

namespace baton::cuda {
namespace {

constexpr std::uint64_t kKiB = 1024;
/// What kernels are written for. Vec is shared memory; the others lie in the memory of the GPU.
constexpr std::array<std::uint64_t, kBufferTypes> kBuffers = {192 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB,
                                                              128 * kKiB, 1 * kKiB,   2 * kKiB};
/// A tile begins at a multiple of this, and smaller cores than with so much of Vec are of no use.
constexpr std::uint64_t kTileAlignment = 512;
constexpr int kLeastVec = 8 * kKiB;
/// For kernels that call deeply: the linker cannot foresee calls through pointers.
constexpr std::size_t kStackBytes = 8 * kKiB;

}  // namespace

GpuMemory::GpuMemory(std::size_t bytes) : bytes_(bytes) {
  const Driver& driver = Driver::get();
  driver.check("allocating memory of the GPU", driver.alloc(&address_, std::max<std::size_t>(bytes, 1)));
  driver.check("clearing memory of the GPU", driver.set_bytes(address_, 0, std::max<std::size_t>(bytes, 1)));
}

GpuMemory::~GpuMemory() {
  if (address_ != 0) Driver::get().free(address_);
}

int Gpu::attribute(DeviceAttribute which) const {
  int value = 0;
  Driver::get().check("asking the GPU", Driver::get().device_attribute(&value, which, device_));
  return value;
}

Gpu::Gpu(int ordinal) : ordinal_(ordinal) {
  const Driver& driver = Driver::get();
  int count = 0;
  driver.check("counting GPUs", driver.device_count(&count));
  if (ordinal < 0 || ordinal >= count) {
    throw Error(Code::out_of_range, fmt::format("there is no GPU {}: this machine has {}", ordinal, count));
  }
  driver.check("finding the GPU", driver.device_get(&device_, ordinal));
  const int major = attribute(DeviceAttribute::major);
  if (major < 9) {
    throw Error(Code::unsupported, fmt::format("GPU {} has compute capability {}.{}; 9.0 or later is needed", ordinal,
                                               major, attribute(DeviceAttribute::minor)));
  }
  architecture_ = fmt::format("sm_{}{}a", major, attribute(DeviceAttribute::minor));
  divide(attribute(DeviceAttribute::multiprocessors));
  driver.check("opening the GPU", driver.context_retain(&context_, device_));
  make_current();
  driver.check("setting the stack of kernels", driver.context_limit(kLimitOfStack, kStackBytes));
  // Runs begin after what others have begun on the default stream: PyTorch and CuPy work there.
  constexpr unsigned kAfterDefaultStream = 0;
  driver.check("making a stream", driver.stream_create(&stream_, kAfterDefaultStream));
}

void Gpu::divide(int cores) {
  const int multiprocessors = attribute(DeviceAttribute::multiprocessors);
  const int share = (cores + multiprocessors - 1) / multiprocessors;
  threads_ = cuda::threads_of_core(static_cast<std::uint32_t>(share));
  const int shared = std::min(attribute(DeviceAttribute::shared_bytes_with_consent),
                              attribute(DeviceAttribute::shared_bytes_of_multiprocessor) / share -
                                  attribute(DeviceAttribute::shared_bytes_of_driver)) -
                     static_cast<int>(kControlBytes);
  if (threads_ == 0 || shared < kLeastVec) {
    throw Error(Code::out_of_range, fmt::format("{} multiprocessors do not have memory and registers for {} cores",
                                                multiprocessors, cores));
  }
  cores_ = cores;
  buffer_bytes_ = kBuffers;
  buffer_bytes_[0] = std::min(buffer_bytes_[0], static_cast<std::uint64_t>(shared) / kTileAlignment * kTileAlignment);
}

Gpu::~Gpu() {
  const Driver& driver = Driver::get();
  driver.context_set(context_);
  memory.clear();
  program_.reset();
  if (stream_ != nullptr) driver.stream_destroy(stream_);
  driver.context_release(device_);
}

LoadedKernel* Gpu::load(const std::string& path, const std::string& name) {
  std::unique_ptr<Image>& image = images_[path];
  if (!image) image = std::make_unique<Image>(path);
  const std::string symbol = image->symbol_of(name);
  const auto found = std::ranges::find_if(
      kernels_, [&](const auto& kernel) { return kernel->image == image.get() && kernel->symbol == symbol; });
  if (found != kernels_.end()) return found->get();
  kernels_.push_back(std::make_unique<LoadedKernel>(LoadedKernel{image.get(), name, symbol}));
  program_.reset();
  return kernels_.back().get();
}

std::shared_ptr<const Program> Gpu::program() {
  if (!program_) {
    std::vector<const LoadedKernel*> kernels;
    for (const auto& kernel : kernels_) kernels.push_back(kernel.get());
    program_ = std::make_shared<Program>(*this, kernels);
  }
  return program_;
}

}  // namespace baton::cuda
