#include "platform/ascend/npu.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "platform/ascend/generation.hpp"
#include "platform/ascend/runtime.hpp"

namespace baton::ascend {
namespace {

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

std::int64_t Npu::attribute(std::int32_t which) const {
  const Cann& cann = Cann::get();
  std::int64_t value = 0;
  cann.check("aclrtGetDeviceInfo", cann.aclrtGetDeviceInfo(static_cast<std::uint32_t>(id_), which, &value));
  return value;
}

Npu::Npu(int id) : id_(id) {
  const Cann& cann = Cann::get();
  Runtime::enter();
  in_process_ = true;
  try {
    std::uint32_t count = 0;
    cann.check("aclrtGetDeviceCount", cann.aclrtGetDeviceCount(&count));
    if (id < 0 || static_cast<std::uint32_t>(id) >= count) {
      throw Error(Code::out_of_range, fmt::format("there is no Ascend chip {}: this machine shows {}", id, count));
    }
    const std::int64_t architecture = attribute(kArchitecture);
    if (architecture != kGeneration.architecture) {
      const char* const name = cann.aclrtGetSocName();
      throw Error(
          Code::unsupported,
          fmt::format("chip {} ({}) has architecture {}; platform {} is for {}", id, name == nullptr ? "no name" : name,
                      architecture, kGeneration.platform, kGeneration.architecture),
          {"a2a3 is for architecture 2201, a5 for 3510"});
    }
    clusters_ = static_cast<std::uint32_t>(attribute(kCubeCores));
    cann.check("aclrtSetDevice", cann.aclrtSetDevice(id));
    is_set_ = true;
    cann.check("aclrtGetCurrentContext", cann.aclrtGetCurrentContext(&context_));
    make_streams();
  } catch (...) {
    Ending ignored;  // what began this is told
    release(ignored);
    throw;
  }
}

Npu::~Npu() {
  Ending ignored;
  release(ignored);
}

void Npu::set_clusters(std::uint32_t clusters) {
  if (clusters > clusters_) {
    throw Error(Code::out_of_range,
                fmt::format("chip {} has {} clusters, and {} are wanted", id_, clusters_, clusters));
  }
  clusters_ = clusters;
}

void Npu::close() {
  Ending ending;
  release(ending);
  ending.finish();
}

void Npu::release(Ending& ending) {
  if (!in_process_) return;
  in_process_ = false;
  if (is_set_) release_device(ending);
  is_set_ = false;
  Runtime::leave(ending);
}

void Npu::release_device(Ending& ending) {
  const Cann& cann = Cann::get();
  if (!lost_.empty()) {
    // Nothing of it can be freed one by one.
    ending("aclrtResetDeviceForce", cann.aclrtResetDeviceForce(id_));
  } else {
    if (context_ != nullptr) ending("aclrtSetCurrentContext", cann.aclrtSetCurrentContext(context_));
    end_streams(ending);
    kernels_.unload(ending);
    for (const auto& [address, bytes] : memory_) ending("aclrtFree", cann.aclrtFree(pointer(address)));
    for (const std::int32_t peer : peers_) {
      ending("aclrtDeviceDisablePeerAccess", cann.aclrtDeviceDisablePeerAccess(peer));
    }
    ending("aclrtResetDevice", cann.aclrtResetDevice(id_));
  }
  memory_.clear();
  peers_.clear();
  kernels_.forget();
}

void Npu::make_streams() {
  const Cann& cann = Cann::get();
  for (Handle& stream : streams_) {
    cann.check("aclrtCreateStream", cann.aclrtCreateStream(&stream));
    // By default tasks behind a failed one go on, and the last failure hides the first.
    cann.check("aclrtSetStreamFailureMode", cann.aclrtSetStreamFailureMode(stream, kStopAfterFailure));
  }
}

void Npu::end_streams(Ending& ending) {
  const Cann& cann = Cann::get();
  for (Handle& stream : streams_) {
    if (stream != nullptr) ending("aclrtDestroyStream", cann.aclrtDestroyStream(stream));
    stream = nullptr;
  }
  for (void* const event : events_) ending("aclrtDestroyEvent", cann.aclrtDestroyEvent(event));
  events_.clear();
}

void Npu::recover(const Error& cause) {
  const Cann& cann = Cann::get();
  try {
    Ending ending;
    for (Handle& stream : streams_) {
      if (stream != nullptr) ending("aclrtDestroyStreamForce", cann.aclrtDestroyStreamForce(stream));
      stream = nullptr;
    }
    end_streams(ending);
    ending.finish();
    make_streams();
  } catch (const Error&) {
    lose(cause);
  }
}

void Npu::lose(const Error& cause) {
  const std::lock_guard lock(mutex_);
  lost_ = cause.message();
}

bool Npu::is_lost() const noexcept {
  const std::lock_guard lock(mutex_);
  return !lost_.empty();
}

void Npu::make_current() const {
  const std::lock_guard lock(mutex_);
  if (!lost_.empty()) {
    throw Error(Code::released, fmt::format("chip {} failed before and cannot be used any more", id_),
                {lost_, "close it; a new one may be opened then, by this process or another"});
  }
  Cann::get().check("aclrtSetCurrentContext", Cann::get().aclrtSetCurrentContext(context_));
}

bool Npu::make_current(Ending& ending) const {
  if (is_lost()) return false;
  ending("aclrtSetCurrentContext", Cann::get().aclrtSetCurrentContext(context_));
  return true;
}

std::uint64_t Npu::alloc(std::size_t bytes) {
  const Cann& cann = Cann::get();
  const std::size_t room = std::max<std::size_t>(bytes, 1);
  void* memory = nullptr;
  cann.check("aclrtMalloc", cann.aclrtMalloc(&memory, room, kHugePagesFirst));
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  {
    const std::lock_guard lock(mutex_);
    memory_.emplace(address, room);
  }
  try {
    clear(address, room);
  } catch (const Error&) {
    free(address);
    throw;
  }
  return address;
}

void Npu::free(std::uint64_t address) {
  {
    const std::lock_guard lock(mutex_);
    if (memory_.erase(address) == 0) throw Error(Code::released, "no live memory has this address");
  }
  Cann::get().check("aclrtFree", Cann::get().aclrtFree(pointer(address)));
}

void Npu::clear(std::uint64_t address, std::size_t bytes) const {
  Cann::get().check("aclrtMemset", Cann::get().aclrtMemset(pointer(address), bytes, 0, bytes));
}

void Npu::copy_in(std::uint64_t to, const void* from, std::size_t bytes) const {
  if (bytes == 0) return;
  const Cann& cann = Cann::get();
  cann.check("aclrtMemcpy", cann.aclrtMemcpy(pointer(to), bytes, from, bytes, kToDevice));
}

void Npu::copy_out(void* to, std::uint64_t from, std::size_t bytes) const {
  if (bytes == 0) return;
  const Cann& cann = Cann::get();
  cann.check("aclrtMemcpy", cann.aclrtMemcpy(to, bytes, pointer(from), bytes, kToHost));
}

void Npu::reach(std::int32_t peer) {
  if (peer == id_ || peers_.contains(peer)) return;
  const Cann& cann = Cann::get();
  std::int32_t can = 0;
  cann.check("aclrtDeviceCanAccessPeer", cann.aclrtDeviceCanAccessPeer(&can, id_, peer));
  if (can == 0) throw Error(Code::unsupported, fmt::format("chip {} cannot reach memory of chip {}", id_, peer));
  cann.check("aclrtDeviceEnablePeerAccess", cann.aclrtDeviceEnablePeerAccess(peer, 0));
  peers_.insert(peer);
}

Handle Npu::event(std::size_t index) {
  const Cann& cann = Cann::get();
  while (events_.size() <= index) {
    Handle event = nullptr;
    cann.check("aclrtCreateEventExWithFlag", cann.aclrtCreateEventExWithFlag(&event, kForSynchronisation));
    events_.push_back(event);
  }
  return events_[index];
}

}  // namespace baton::ascend
