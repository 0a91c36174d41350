// Physical memory of other processes, of this server and of others (R 11-04).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "physical_memory.hpp"
#include "state.hpp"

namespace standin {
namespace {

constexpr std::int32_t kFabric = 2;
constexpr std::size_t kFabricBytes = 128;
/// A3, of which some servers have one.
constexpr std::int64_t kWithFabric = 2201;

}  // namespace
}  // namespace standin

using namespace standin;  // NOLINT: the functions below are the stand-in's face

extern "C" {

STANDIN_API int aclrtDeviceGetBareTgid(std::int32_t* out) {
  return call("aclrtDeviceGetBareTgid", Needs::device, [&](State&, Lock&) {
    *out = ::getpid();
    return int{kOk};
  });
}

STANDIN_API int aclrtMemExportToShareableHandle(void* handle, std::int32_t type, std::uint64_t flags,
                                                std::uint64_t* out) {
  return call("aclrtMemExportToShareableHandle", Needs::device, [&](State&, Lock&) {
    const auto found = physical.find(number_of(handle));
    if (found == physical.end()) return violate(kBadHandle, "aclrtMemExportToShareableHandle of what is not alive");
    Physical& memory = *found->second;
    if (type != 0 || flags > 1 || memory.exported || memory.imported) {
      return violate(kBadParameter, "aclrtMemExportToShareableHandle: twice, of imported memory, or with flags");
    }
    memory.exported = true;
    memory.shared->open_to_all = static_cast<std::uint32_t>(flags);
    *out = static_cast<std::uint64_t>(::getpid()) << 32U | static_cast<std::uint32_t>(memory.file);
    return int{kOk};
  });
}

STANDIN_API int aclrtMemSetPidToShareableHandle(std::uint64_t shareable, std::int32_t* pids, std::size_t count) {
  return call("aclrtMemSetPidToShareableHandle", Needs::device, [&](State&, Lock&) {
    for (const auto& [handle, memory] : physical) {
      if (memory->imported || !memory->exported ||
          static_cast<std::uint32_t>(memory->file) != (shareable & 0xFFFFFFFFU)) {
        continue;
      }
      std::uint32_t known = memory->shared->pid_count.load();
      if (known + count > Shared::kPids) return violate(kBadParameter, "aclrtMemSetPidToShareableHandle: too many");
      for (std::size_t i = 0; i < count; ++i) memory->shared->pids[known++] = pids[i];
      memory->shared->pid_count.store(known);
      return int{kOk};
    }
    return violate(kBadHandle, "aclrtMemSetPidToShareableHandle by somebody who has not exported it");
  });
}

STANDIN_API int aclrtMemImportFromShareableHandle(std::uint64_t shareable, std::int32_t id, void** out) {
  return call("aclrtMemImportFromShareableHandle", Needs::device, [&](State& state, Lock&) {
    const auto pid = static_cast<std::int32_t>(shareable >> 32U);
    if (id != current_device(state)->id || pid == ::getpid()) {
      return violate(kBadParameter, "aclrtMemImportFromShareableHandle in the same process, or for another device");
    }
    for (const auto& [handle, memory] : physical) {
      if (memory->origin == shareable) return violate(kBadParameter, "aclrtMemImportFromShareableHandle twice");
    }
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(shareable & 0xFFFFFFFFU);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return violate(kBadHandle, "aclrtMemImportFromShareableHandle of nothing");
    auto memory = opened(file);
    const Shared& shared = *memory->shared;
    const std::uint32_t known = shared.pid_count.load();
    const bool listed = std::find(shared.pids, shared.pids + known, ::getpid()) != shared.pids + known;
    if (shared.freed.load() != 0 || (shared.open_to_all == 0 && !listed)) {
      return violate(kBadParameter, "aclrtMemImportFromShareableHandle of freed memory, or by a stranger");
    }
    if (!add_importer(*memory->shared)) return refuse(kNoMemory, "aclrtMemImportFromShareableHandle: too many");
    memory->imported = true;
    memory->origin = shareable;
    *out = state.new_handle();
    physical.emplace(number_of(*out), std::move(memory));
    return int{kOk};
  });
}

STANDIN_API int aclrtMemExportToShareableHandleV2(void* handle, std::uint64_t flags, std::int32_t type, void* out) {
  return call("aclrtMemExportToShareableHandleV2", Needs::device, [&](State& state, Lock&) {
    const auto found = physical.find(number_of(handle));
    if (found == physical.end()) return violate(kBadHandle, "aclrtMemExportToShareableHandleV2 of what is not alive");
    Physical& memory = *found->second;
    if (type != kFabric || flags > 1 || memory.exported || memory.imported) {
      return violate(kBadParameter, "aclrtMemExportToShareableHandleV2: twice, of imported memory, or of another type");
    }
    if (state.architecture != kWithFabric || std::getenv("STANDIN_NO_FABRIC") != nullptr) {
      return refuse(kUnsupported, "aclrtMemExportToShareableHandleV2: there is no fabric");
    }
    memory.exported = true;
    memory.shared->open_to_all = static_cast<std::uint32_t>(flags);
    std::memset(out, 0, kFabricBytes);
    std::snprintf(static_cast<char*>(out), kFabricBytes, "/proc/%d/fd/%d", ::getpid(), memory.file);
    return int{kOk};
  });
}

STANDIN_API int aclrtMemImportFromShareableHandleV2(void* shareable, std::int32_t type, std::uint64_t flags,
                                                    void** out) {
  return call("aclrtMemImportFromShareableHandleV2", Needs::device, [&](State& state, Lock&) {
    const auto* path = static_cast<const char*>(shareable);
    if (type != kFabric || flags != 0 || path[kFabricBytes - 1] != 0) {
      return violate(kBadParameter, "aclrtMemImportFromShareableHandleV2 of another type, or without all bytes");
    }
    if (std::atoi(path + std::string_view("/proc/").size()) == ::getpid()) {
      return violate(kBadParameter, "aclrtMemImportFromShareableHandleV2 in the same process");
    }
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return violate(kBadHandle, "aclrtMemImportFromShareableHandleV2 of nothing");
    auto memory = opened(file);
    if (memory->shared->freed.load() != 0 || memory->shared->open_to_all == 0) {
      return violate(kBadParameter, "aclrtMemImportFromShareableHandleV2 of freed memory, or by a stranger");
    }
    if (!add_importer(*memory->shared)) return refuse(kNoMemory, "aclrtMemImportFromShareableHandleV2: too many");
    memory->imported = true;
    memory->of_fabric = true;
    *out = state.new_handle();
    physical.emplace(number_of(*out), std::move(memory));
    return int{kOk};
  });
}

}  // extern "C"
