// Physical memory that this process makes, addresses, and which lies where (R 11-04).
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "field_at.hpp"
#include "memory.hpp"
#include "physical_memory.hpp"
#include "state.hpp"

namespace standin {
namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20U;

struct Reservation {
  std::size_t bytes = 0;
  std::uint64_t context = 0;
  std::shared_ptr<Physical> mapped;
  std::weak_ptr<Physical> before;  // what was mapped last
  std::optional<bool> imported;    // whether what is, or was, mapped here belongs to another process
  bool accessible = false;
};

// With the lock of the state.
std::map<std::byte*, Reservation> reservations;

void hide(std::byte* begin, std::size_t bytes) {
  ::mmap(begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/// The number of the driver for a device of this process.
std::uint32_t driver_number(int id) {
  const char* const list = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (list == nullptr) return static_cast<std::uint32_t>(id);
  std::istringstream numbers(list);
  std::string number;
  for (int i = 0; i <= id; ++i) {
    if (!std::getline(numbers, number, ',')) return static_cast<std::uint32_t>(id);
  }
  return static_cast<std::uint32_t>(std::atoi(number.c_str()));
}

/// aclrtPhysicalMemProp: memory of device `id`, of one of the kinds that windows are made of.
bool is_sound(const void* properties, std::int32_t id) {
  const auto kind = field_at<std::uint32_t>(properties, 8);
  return field_at<std::uint32_t>(properties, 0) == 0 && field_at<std::uint32_t>(properties, 4) == 0 &&
         (kind == 4 || kind == 5) && field_at<std::uint32_t>(properties, 12) == static_cast<std::uint32_t>(id) &&
         field_at<std::uint32_t>(properties, 16) == 1 && field_at<std::uint64_t>(properties, 24) == 0;
}

}  // namespace

bool is_mapped(const std::byte* begin, std::size_t bytes) {
  auto next = reservations.upper_bound(const_cast<std::byte*>(begin));
  if (next == reservations.begin()) return false;
  --next;
  return next->second.accessible && begin + bytes <= next->first + next->second.bytes;
}

std::vector<std::string> mappings_alive(std::uint64_t context) {
  std::vector<std::string> list;
  for (const auto& [handle, memory] : physical) {
    if (context == kAllContexts || memory->context == context) {
      list.emplace_back(memory->imported ? "imported memory" : "physical memory");
    }
  }
  for (const auto& [begin, reservation] : reservations) {
    if (context == kAllContexts || reservation.context == context) list.emplace_back("reserved addresses");
  }
  return list;
}

void drop_mappings(std::uint64_t context) {
  const auto ends = [&](std::uint64_t one) { return context == kAllContexts || one == context; };
  std::erase_if(reservations, [&](const auto& entry) {
    if (!ends(entry.second.context)) return false;
    hide(entry.first, entry.second.bytes);
    return true;
  });
  std::erase_if(physical, [&](const auto& entry) {
    if (!ends(entry.second->context)) return false;
    if (entry.second->imported) remove_importer(*entry.second->shared);
    return true;
  });
}

}  // namespace standin

using namespace standin;  // NOLINT: the functions below are the stand-in's face

extern "C" {

STANDIN_API int aclrtMemGetAllocationGranularity(void* properties, std::int32_t option, std::size_t* out) {
  return call("aclrtMemGetAllocationGranularity", Needs::device, [&](State& state, Lock&) {
    if (!is_sound(properties, current_device(state)->id) || option < 0 || option > 1) {
      return violate(kBadParameter, "aclrtMemGetAllocationGranularity: properties of no memory of this device");
    }
    *out = kGranularity;
    return int{kOk};
  });
}

STANDIN_API int aclrtMallocPhysical(void** out, std::size_t bytes, const void* properties, std::uint64_t flags) {
  return call("aclrtMallocPhysical", Needs::device, [&](State& state, Lock&) {
    const int device = current_device(state)->id;
    if (bytes == 0 || bytes % kGranularity != 0 || flags != 0 || !is_sound(properties, device)) {
      return violate(kBadParameter, "aclrtMallocPhysical: size, flags or properties are wrong");
    }
    const int file = ::memfd_create("standin", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(Shared::kBytes + bytes)) != 0) {
      return refuse(kNoMemory, "aclrtMallocPhysical");
    }
    auto made = opened(file);
    made->shared->device = device;
    made->shared->bytes = bytes;
    *out = state.new_handle();
    physical.emplace(number_of(*out), std::move(made));
    return int{kOk};
  });
}

STANDIN_API int aclrtFreePhysical(void* handle) {
  return call("aclrtFreePhysical", Needs::context, [&](State& state, Lock&) {
    const auto found = physical.find(number_of(handle));
    if (found == physical.end()) return violate(kBadHandle, "aclrtFreePhysical of what is not alive");
    Physical& memory = *found->second;
    if (memory.mappings != 0) return violate(kBadParameter, "aclrtFreePhysical before aclrtUnmapMem");
    if (memory.imported) {
      remove_importer(*memory.shared);
    } else {
      if (has_importers(*memory.shared)) {
        state.violations.emplace_back("aclrtFreePhysical of the owner before that of the importers");
      }
      memory.shared->freed.store(1);
    }
    physical.erase(found);
    return int{kOk};
  });
}

STANDIN_API int aclrtReserveMemAddress(void** out, std::size_t bytes, std::size_t alignment, void*,
                                       std::uint64_t flags) {
  return call("aclrtReserveMemAddress", Needs::device, [&](State& state, Lock&) {
    if (bytes == 0 || bytes % kGranularity != 0 || alignment != 0 || flags != 0) {
      return violate(kBadParameter, "aclrtReserveMemAddress: size, alignment or flags are wrong");
    }
    std::byte* const begin = current_device(state)->arena.take(bytes);
    reservations[begin] = {.bytes = bytes, .context = current_context(), .mapped = {}, .before = {}, .imported = {}};
    *out = begin;
    return int{kOk};
  });
}

STANDIN_API int aclrtReleaseMemAddress(void* address) {
  return call("aclrtReleaseMemAddress", Needs::context, [&](State&, Lock&) {
    const auto found = reservations.find(static_cast<std::byte*>(address));
    if (found == reservations.end()) return violate(kBadHandle, "aclrtReleaseMemAddress of what is not reserved");
    if (found->second.mapped) return violate(kBadParameter, "aclrtReleaseMemAddress before aclrtUnmapMem");
    if (!found->second.before.expired()) {
      return violate(kBadParameter, "aclrtReleaseMemAddress before aclrtFreePhysical of what was mapped there");
    }
    reservations.erase(found);
    return int{kOk};
  });
}

STANDIN_API int aclrtMapMem(void* address, std::size_t bytes, std::size_t offset, void* handle, std::uint64_t flags) {
  return call("aclrtMapMem", Needs::device, [&](State& state, Lock&) {
    const auto place = reservations.find(static_cast<std::byte*>(address));
    const auto found = physical.find(number_of(handle));
    if (place == reservations.end() || found == physical.end()) {
      return violate(kBadHandle, "aclrtMapMem without addresses or memory");
    }
    const auto& memory = found->second;
    if (offset != 0 || flags != 0 || bytes != memory->shared->bytes || bytes != place->second.bytes ||
        place->second.mapped || place->second.context != current_context()) {
      return violate(kBadParameter, "aclrtMapMem: another size, device, offset or flags, or mapped already");
    }
    if (place->second.imported.value_or(memory->imported) != memory->imported) {
      return violate(kBadParameter, "aclrtMapMem of memory of this process and of others at the same addresses");
    }
    const Device& device = *current_device(state);
    if (!memory->of_fabric && memory->shared->device != device.id && !device.peers.contains(memory->shared->device)) {
      return violate(kBadParameter, "aclrtMapMem of memory of a device that this one may not reach");
    }
    ::mmap(address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file, static_cast<off_t>(Shared::kBytes));
    place->second.mapped = memory;
    place->second.imported = memory->imported;
    ++memory->mappings;
    return int{kOk};
  });
}

STANDIN_API int aclrtUnmapMem(void* address) {
  return call("aclrtUnmapMem", Needs::context, [&](State& state, Lock&) {
    const auto place = reservations.find(static_cast<std::byte*>(address));
    if (place == reservations.end() || !place->second.mapped) {
      return violate(kBadHandle, "aclrtUnmapMem of what is not mapped");
    }
    if (is_busy(state, *current_device(state))) return violate(kBadParameter, "aclrtUnmapMem while kernels run");
    hide(place->first, place->second.bytes);
    --place->second.mapped->mappings;
    place->second.before = place->second.mapped;
    place->second.mapped.reset();
    place->second.accessible = false;
    return int{kOk};
  });
}

STANDIN_API int aclrtMemSetAccess(void* address, std::size_t bytes, void* access, std::size_t count) {
  return call("aclrtMemSetAccess", Needs::device, [&](State& state, Lock&) {
    constexpr std::uint32_t kReadWrite = 3;
    const auto place = reservations.find(static_cast<std::byte*>(address));
    if (place == reservations.end() || !place->second.mapped || bytes != place->second.bytes || count != 1) {
      return violate(kBadParameter, "aclrtMemSetAccess of other bytes than were mapped");
    }
    if (field_at<std::uint32_t>(access, 0) != kReadWrite || field_at<std::uint32_t>(access, 8) != 1 ||
        field_at<std::uint32_t>(access, 4) != driver_number(current_device(state)->id)) {
      return violate(kBadParameter, "aclrtMemSetAccess for another device, or not to read and write");
    }
    ::mprotect(address, bytes, PROT_READ | PROT_WRITE);
    place->second.accessible = true;
    return int{kOk};
  });
}

}  // extern "C"
