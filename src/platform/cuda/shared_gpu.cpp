#include "platform/cuda/shared_gpu.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/options.hpp>

#include "platform/cuda/program.hpp"

namespace baton::cuda {
namespace {

/// For kernels that call deeply: the linker cannot foresee calls through pointers.
constexpr std::size_t kStackBytes = 8 * 1024;
constexpr Result kPeersAlready = 704;  // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED

MemoryPool make_pool(DeviceNumber device) {
  const Driver& driver = Driver::get();
  PoolProperties wanted{};
  wanted.allocation_type = PoolProperties::kPinned;
  wanted.location_type = PoolProperties::kDevice;
  wanted.location = device;
  MemoryPool pool = nullptr;
  driver.check("making a pool of memory", driver.pool_create(&pool, &wanted));
  std::uint64_t keep_all = UINT64_MAX;
  driver.check("making a pool of memory", driver.pool_set(pool, PoolAttribute::release_threshold, &keep_all));
  return pool;
}

}  // namespace

std::shared_ptr<SharedGpu> SharedGpu::open(int ordinal) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<SharedGpu>> all;
  const std::lock_guard lock(mutex);
  std::shared_ptr<SharedGpu> gpu = all[ordinal].lock();
  if (!gpu) {
    gpu = std::make_shared<SharedGpu>(ordinal);
    all[ordinal] = gpu;
  }
  return gpu;
}

SharedGpu::SharedGpu(int ordinal) : ordinal_(ordinal) {
  const Driver& driver = Driver::get();
  driver.check("finding the GPU", driver.device_get(&device_, ordinal));
  const int major = attribute(DeviceAttribute::major);
  if (major < 9) {
    throw Error(Code::unsupported, fmt::format("GPU {} has compute capability {}.{}; 9.0 or later is needed", ordinal,
                                               major, attribute(DeviceAttribute::minor)));
  }
  architecture_ = fmt::format("sm_{}{}a", major, attribute(DeviceAttribute::minor));
  driver.check("opening the GPU", driver.context_retain(&context_, device_));
  try {
    make_current();
    driver.check("setting the stack of kernels", driver.context_limit(kLimitOfStack, kStackBytes));
    pool_ = make_pool(device_);
  } catch (...) {
    driver.context_release(device_);
    throw;
  }
}

SharedGpu::~SharedGpu() {
  const Driver& driver = Driver::get();
  driver.context_set(context_);
  program_.reset();
  for (const auto& action : when_idle_) action();
  driver.pool_destroy(pool_);
  driver.context_release(device_);
}

int SharedGpu::attribute(DeviceAttribute which) const {
  int value = 0;
  Driver::get().check("asking the GPU", Driver::get().device_attribute(&value, which, device_));
  return value;
}

void SharedGpu::reach(Context peer, int ordinal) {
  if (peer == context_) return;
  const Driver& driver = Driver::get();
  DeviceNumber other = 0;
  int reaches = 0;
  driver.check("finding the GPU", driver.device_get(&other, ordinal));
  driver.check("asking about a peer", driver.can_access_peer(&reaches, device_, other));
  if (reaches == 0) {
    throw Error(Code::unsupported, fmt::format("GPU {} does not reach the memory of GPU {}", ordinal_, ordinal));
  }
  make_current();
  const Result result = driver.enable_peer_access(peer, 0);
  if (result != kPeersAlready) driver.check("reaching a peer", result);
  spans_gpus_ = true;
}

LoadedKernel* SharedGpu::load(const std::string& path, const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Image>& image = images_[path];
  if (!image) {
    image = std::make_unique<Image>(path);
    for (const std::string& typed : image->typed_kernels()) {
      kernels_.push_back(std::make_unique<LoadedKernel>(LoadedKernel{image.get(), typed, image->symbol_of(typed)}));
    }
  }
  const std::string symbol = image->symbol_of(name);
  const auto found = std::ranges::find_if(
      kernels_, [&](const auto& kernel) { return kernel->image == image.get() && kernel->symbol == symbol; });
  if (found != kernels_.end()) return found->get();
  kernels_.push_back(std::make_unique<LoadedKernel>(LoadedKernel{image.get(), name, symbol}));
  return kernels_.back().get();
}

bool SharedGpu::has_kernels() {
  const std::lock_guard lock(mutex_);
  return !kernels_.empty();
}

std::shared_ptr<const Program> SharedGpu::program() {
  std::unique_lock lock(mutex_);
  const auto complete = [this] { return program_ && linked_ == kernels_.size(); };
  if (complete()) return program_;
  ++waiting_loads_;
  const std::chrono::nanoseconds limit = options().wait_timeout;
  const auto begins = [&] { return complete() || (running_ == 0 && !loading_); };
  const bool in_time = changed_.wait_for(lock, limit, begins);
  --waiting_loads_;
  if (!in_time) {
    changed_.notify_all();
    throw Error(Code::wait_timeout,
                fmt::format("kernel '{}' waited {} s to be loaded: GPU {} loads code only while no kernel runs",
                            kernels_.back()->name, std::chrono::duration<double>(limit).count(), ordinal_),
                {"kernels that wait for it, on other chips, do not end: run it once before them"});
  }
  if (!complete()) load_program(lock);
  changed_.notify_all();
  return program_;
}

void SharedGpu::load_program(std::unique_lock<std::mutex>& lock) {
  std::vector<const LoadedKernel*> kernels;
  for (const auto& kernel : kernels_) kernels.push_back(kernel.get());
  empty();
  loading_ = true;
  lock.unlock();
  std::exception_ptr failure;
  std::shared_ptr<const Program> made;
  try {
    // Graphs keep an old one. Code is unloaded when nothing runs.
    made = {new Program(*this, kernels), [this](const Program* old) { when_idle([old] { delete old; }); }};
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  loading_ = false;
  changed_.notify_all();
  if (failure) std::rethrow_exception(failure);
  std::swap(program_, made);
  linked_ = kernels.size();
  // The old one ends without the lock.
  lock.unlock();
  made.reset();
  lock.lock();
}

void SharedGpu::begin_run() {
  std::unique_lock lock(mutex_);
  // Kernels that run may wait for this one; while none does, code that waits to be loaded goes first.
  changed_.wait(lock, [this] { return !loading_ && (running_ > 0 || waiting_loads_ == 0); });
  ++running_;
}

void SharedGpu::end_run() noexcept {
  const std::lock_guard lock(mutex_);
  if (--running_ > 0) return;
  if (!when_idle_.empty()) empty();
  for (const auto& action : when_idle_) action();
  when_idle_.clear();
  changed_.notify_all();
}

void SharedGpu::when_idle(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  if (running_ > 0) {
    when_idle_.push_back(std::move(action));
  } else {
    empty();
    action();
  }
}

void SharedGpu::make_way() {
  const std::lock_guard lock(mutex_);
  if (running_ == 0) empty();
}

void SharedGpu::add_window(Extent part) {
  const std::lock_guard lock(mutex_);
  windows_.push_back(part);
}

void SharedGpu::remove_window(std::uint64_t begin) {
  const std::lock_guard lock(mutex_);
  std::erase_if(windows_, [begin](const Extent& part) { return part.begin == begin; });
}

std::vector<Extent> SharedGpu::windows() {
  const std::lock_guard lock(mutex_);
  return windows_;
}

void SharedGpu::add(Guest& guest) {
  const std::lock_guard lock(mutex_);
  guests_.push_back(&guest);
}

void SharedGpu::remove(Guest& guest) {
  const std::lock_guard lock(mutex_);
  std::erase(guests_, &guest);
}

void SharedGpu::empty() noexcept {
  for (Guest* const guest : guests_) guest->leave();
}

}  // namespace baton::cuda
