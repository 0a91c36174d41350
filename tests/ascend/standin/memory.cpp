// Memory of devices (R 11-01, 11-03).
#include <sys/mman.h>

#include <cstring>

#include "memory.hpp"
#include "state.hpp"

namespace standin {
namespace {

constexpr std::size_t kRoom = std::size_t{8} << 30U;

/// Which device an address belongs to; null: the host's.
Device* owner_of(State& state, const void* address) {
  for (auto& [id, device] : state.devices) {
    if (device.arena.contains(address)) return &device;
  }
  return nullptr;
}

/// Whether these bytes lie in one live allocation.
bool is_allocated(const Device& device, const void* address, std::size_t bytes) {
  auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
  if (is_mapped(at, bytes)) return true;
  auto next = device.arena.blocks.upper_bound(at);
  if (next == device.arena.blocks.begin()) return false;
  --next;
  return at + bytes <= next->first + next->second;
}

/// One side of a copy.
int check_side(State& state, const char* what, const void* address, std::size_t bytes, bool on_device) {
  const Device* owner = owner_of(state, address);
  if ((owner != nullptr) != on_device) {
    return violate(kBadParameter, std::string("aclrtMemcpy: the ") + what + " is not where the kind says");
  }
  if (owner != nullptr && !is_allocated(*owner, address, bytes)) {
    return violate(kBadParameter, std::string("aclrtMemcpy: the ") + what + " is outside of all memory of the device");
  }
  return kOk;
}

}  // namespace
}  // namespace standin

using namespace standin;  // NOLINT: the functions below are the stand-in's face

extern "C" {

STANDIN_API int aclrtMalloc(void** out, std::size_t bytes, std::int32_t policy) {
  return call("aclrtMalloc", Needs::device, [&](State& state, Lock&) {
    if (bytes == 0 || policy < 0) return violate(kParameter, "aclrtMalloc of 0 bytes");
    Arena& arena = current_device(state)->arena;
    if (bytes > kRoom - arena.live) return refuse(kNoMemory, "aclrtMalloc: the device is full");
    std::byte* const at = arena.take(bytes);
    if (at == nullptr || ::mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) return refuse(kNoMemory, "aclrtMalloc");
    // Not zeroed.
    std::memset(at, 0xA5, std::min<std::size_t>(bytes, 4096));
    arena.blocks.emplace(at, bytes);
    arena.live += bytes;
    *out = at;
    return int{kOk};
  });
}

STANDIN_API int aclrtFree(void* address) {
  return call("aclrtFree", Needs::device, [&](State& state, Lock&) {
    Device& device = *current_device(state);
    const auto found = device.arena.blocks.find(static_cast<std::byte*>(address));
    if (found == device.arena.blocks.end()) return violate(kParameter, "aclrtFree of what is no live allocation");
    if (is_busy(state, device)) return violate(kBadParameter, "aclrtFree while kernels may use the memory");
    device.arena.live -= found->second;
    ::mmap(found->first, found->second, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    device.arena.blocks.erase(found);
    return int{kOk};
  });
}

STANDIN_API int aclrtGetMemInfo(std::int32_t attribute, std::size_t* free_bytes, std::size_t* total) {
  return call("aclrtGetMemInfo", Needs::device, [&](State& state, Lock&) {
    if (attribute != 1) return refuse(kBadParameter, "aclrtGetMemInfo: no such memory");
    *total = kRoom;
    *free_bytes = kRoom - current_device(state)->arena.live;
    return int{kOk};
  });
}

STANDIN_API int aclrtMemcpy(void* to, std::size_t room, const void* from, std::size_t bytes, std::int32_t kind) {
  return call("aclrtMemcpy", Needs::device, [&](State& state, Lock&) {
    constexpr int kToDevice = 1;
    constexpr int kToHost = 2;
    constexpr int kOnDevice = 3;
    if (kind < kToDevice || kind > kOnDevice) return violate(kBadParameter, "aclrtMemcpy: no such kind");
    if (bytes > room) return violate(kBadParameter, "aclrtMemcpy of more than there is room for");
    if (const int code = check_side(state, "target", to, bytes, kind != kToHost)) return code;
    if (const int code = check_side(state, "source", from, bytes, kind != kToDevice)) return code;
    std::memcpy(to, from, bytes);
    return int{kOk};
  });
}

STANDIN_API int aclrtMemset(void* to, std::size_t room, std::int32_t value, std::size_t bytes) {
  return call("aclrtMemset", Needs::device, [&](State& state, Lock&) {
    if (bytes > room) return violate(kBadParameter, "aclrtMemset of more than there is room for");
    if (const int code = check_side(state, "target", to, bytes, true)) return code;
    std::memset(to, value, bytes);
    return int{kOk};
  });
}

}  // extern "C"
