// The runtime of Ascend chips (CANN), loaded at run time: nothing of it is needed to build or to load this library.
//
// Declarations are written from the "Runtime API" reference of CANN 9.1; the first column is the chapter in which a
// function has its page. Enumerations are int32_t, handles void*, as there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <baton/error.hpp>

#include "platform/ascend/vendor_library.hpp"

namespace baton::ascend {

using Result = int;
using Handle = void*;

struct LoadOptions;
struct LaunchConfig;
struct PhysicalMemory;
struct MemoryAccess;

// clang-format off
#define BATON_CANN_FUNCTIONS(X) \
  X("02", aclInit, (const char* config)) \
  X("02", aclFinalize, ()) \
  X("04", aclrtSetDevice, (std::int32_t device)) \
  X("04", aclrtResetDevice, (std::int32_t device)) \
  X("04", aclrtResetDeviceForce, (std::int32_t device)) \
  X("04", aclrtGetDeviceCount, (std::uint32_t* count)) \
  X("04", aclrtGetDeviceInfo, (std::uint32_t device, std::int32_t attribute, std::int64_t* value)) \
  X("04", aclrtDeviceCanAccessPeer, (std::int32_t* can, std::int32_t device, std::int32_t peer)) \
  X("04", aclrtDeviceEnablePeerAccess, (std::int32_t peer, std::uint32_t flags)) \
  X("04", aclrtDeviceDisablePeerAccess, (std::int32_t peer)) \
  X("04", aclrtDeviceGetBareTgid, (std::int32_t* process)) \
  X("05", aclrtGetCurrentContext, (Handle* context)) \
  X("05", aclrtSetCurrentContext, (Handle context)) \
  X("06", aclrtCreateStream, (Handle* stream)) \
  X("06", aclrtDestroyStream, (Handle stream)) \
  X("06", aclrtDestroyStreamForce, (Handle stream)) \
  X("06", aclrtSynchronizeStreamWithTimeout, (Handle stream, std::int32_t limit_ms)) \
  X("06", aclrtSetStreamFailureMode, (Handle stream, std::uint64_t mode)) \
  X("07", aclrtCreateEventExWithFlag, (Handle* event, std::uint32_t flag)) \
  X("07", aclrtRecordEvent, (Handle event, Handle stream)) \
  X("07", aclrtQueryEventStatus, (Handle event, std::int32_t* status)) \
  X("07", aclrtStreamWaitEvent, (Handle stream, Handle event)) \
  X("07", aclrtDestroyEvent, (Handle event)) \
  X("11-01", aclrtMalloc, (void** address, std::size_t bytes, std::int32_t policy)) \
  X("11-01", aclrtFree, (void* address)) \
  X("11-03", aclrtMemcpy, (void* to, std::size_t room, const void* from, std::size_t bytes, std::int32_t kind)) \
  X("11-03", aclrtMemset, (void* to, std::size_t room, std::int32_t value, std::size_t bytes)) \
  X("11-04", aclrtMemGetAllocationGranularity, (PhysicalMemory* memory, std::int32_t option, std::size_t* bytes)) \
  X("11-04", aclrtMallocPhysical, (Handle* memory, std::size_t bytes, const PhysicalMemory* what, std::uint64_t flags)) \
  X("11-04", aclrtFreePhysical, (Handle memory)) \
  X("11-04", aclrtReserveMemAddress, (void** address, std::size_t bytes, std::size_t alignment, void* expected, \
                                      std::uint64_t flags)) \
  X("11-04", aclrtReleaseMemAddress, (void* address)) \
  X("11-04", aclrtMapMem, (void* address, std::size_t bytes, std::size_t offset, Handle memory, std::uint64_t flags)) \
  X("11-04", aclrtUnmapMem, (void* address)) \
  X("11-04", aclrtMemSetAccess, (void* address, std::size_t bytes, MemoryAccess* access, std::size_t count)) \
  X("11-04", aclrtMemExportToShareableHandle, (Handle memory, std::int32_t type, std::uint64_t flags, \
                                               std::uint64_t* shareable)) \
  X("11-04", aclrtMemSetPidToShareableHandle, (std::uint64_t shareable, std::int32_t* processes, std::size_t count)) \
  X("11-04", aclrtMemImportFromShareableHandle, (std::uint64_t shareable, std::int32_t device, Handle* memory)) \
  X("11-04", aclrtMemExportToShareableHandleV2, (Handle memory, std::uint64_t flags, std::int32_t type, \
                                                 void* shareable)) \
  X("11-04", aclrtMemImportFromShareableHandleV2, (void* shareable, std::int32_t type, std::uint64_t flags, \
                                                   Handle* memory)) \
  X("12", aclrtSetOpExecuteTimeOutV2, (std::uint64_t limit_us, std::uint64_t* actual_us)) \
  X("14", aclrtBinaryLoadFromData, (const void* data, std::size_t bytes, const LoadOptions* options, Handle* binary)) \
  X("14", aclrtBinaryGetFunction, (Handle binary, const char* name, Handle* function)) \
  X("14", aclrtBinaryUnLoad, (Handle binary)) \
  X("14", aclrtLaunchKernelWithHostArgs, (Handle function, std::uint32_t blocks, Handle stream, LaunchConfig* config, \
                                          void* args, std::size_t bytes, void* placeholders, std::size_t count))
// clang-format on

// Numbers of results that decide what happens next.
inline constexpr Result kRepeatedInit = 100002;
inline constexpr Result kAborted = 107023;
inline constexpr Result kLate = 507046;

enum : std::int32_t { kCubeCores = 102, kArchitecture = 601 };
enum : std::int32_t { kHugePagesFirst = 0 };
enum : std::int32_t { kToDevice = 1, kToHost = 2 };
inline constexpr std::uint64_t kStopAfterFailure = 1;
inline constexpr std::uint32_t kForSynchronisation = 1;
inline constexpr std::int32_t kEventComplete = 1;

/// aclrtBinaryLoadOptions with one option: the magic, which says what cores the kernels are for. Without it the loader
/// takes them for kernels of cube cores.
struct LoadOptions {
  struct Option {
    std::uint32_t type = 2;
    std::uint32_t magic = 0;
    std::uint32_t rest[3] = {};
  };
  const Option* options;
  std::size_t count;
};
static_assert(sizeof(LoadOptions::Option) == 20 && offsetof(LoadOptions::Option, magic) == 4);

/// aclrtLaunchKernelCfg with one attribute: the blocks start when there are cores for all of them.
struct LaunchConfig {
  struct Attribute {
    std::uint32_t id = 1;
    std::uint8_t mode = 1;
    std::uint8_t rest[15] = {};
  };
  const Attribute* attributes;
  std::size_t count;
};
static_assert(sizeof(LaunchConfig::Attribute) == 20 && offsetof(LaunchConfig::Attribute, mode) == 4);

/// aclrtPhysicalMemProp: memory of a device that can be mapped and shared.
struct PhysicalMemory {
  std::uint32_t handle_type = 0;
  std::uint32_t allocation_type = 0;
  std::uint32_t attribute = 5;  // normal pages of the device, which the runtime serves from huge ones
  std::uint32_t device = 0;
  std::uint32_t location = 1;  // a device
  std::uint32_t padding = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(PhysicalMemory) == 32 && offsetof(PhysicalMemory, device) == 12);

/// aclrtMemAccessDesc: who may read and write.
struct MemoryAccess {
  std::uint32_t flags = 3;
  std::uint32_t device = 0;    // as the driver numbers it
  std::uint32_t location = 1;  // a device
  std::uint8_t reserved[12] = {};
};
static_assert(sizeof(MemoryAccess) == 24 && offsetof(MemoryAccess, device) == 4);
inline constexpr std::int32_t kLeastGranularity = 0;

/// What tells a process of another one's memory: on one host a number, between hosts what the fabric knows it by.
struct Shareable {
  std::uint64_t number = 0;
  std::uint8_t fabric[128] = {};
};
inline constexpr std::int32_t kOfFabric = 2;
inline constexpr std::uint64_t kForAll = 1;  // no list of processes that may import it

/// A failed call: what Baton calls it, and the vendor's number and text.
[[nodiscard]] Code code_of(Result result) noexcept;
/// "207001 (no memory)".
[[nodiscard]] std::string describe(Result result);

/// The functions of libacl_rt.so, or libascendcl.so, that are used here. Throws Error (unsupported) that says what is
/// missing.
struct Cann {
  static const Cann& get();

  /// Throws Error with the function, the number and the vendor's text of this thread unless `result` is 0.
  void check(const char* function, Result result) const;
  /// The same as a value. The vendor's text is gone once it is read.
  [[nodiscard]] Error error(const char* function, Result result) const;

#define BATON_CANN_MEMBER(page, name, parameters) Result(*name) parameters;
  BATON_CANN_FUNCTIONS(BATON_CANN_MEMBER)
#undef BATON_CANN_MEMBER
  const char* (*aclrtGetSocName)();
  const char* (*aclGetRecentErrMsg)();
  /// Chapter 24, which says that others take its place: it may be missing.
  Result (*aclrtGetVersion)(std::int32_t* major, std::int32_t* minor, std::int32_t* patch);

  /// Throws Error (unsupported) if the interface has changed since this was written. Once the runtime has started.
  void check_version() const;

 private:
  Cann();

  VendorLibrary library_;
};

/// What ends goes on to its end: the first failure is thrown when all is done.
class Ending {
 public:
  void operator()(const char* function, Result result);
  void operator()(const Error& error);
  /// Throws what was kept, if anything.
  void finish() const;

 private:
  std::optional<Error> first_;
};

}  // namespace baton::ascend
