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

enum : std::int32_t { kCubeCores = 102, kVectorCores = 201, kArchitecture = 601 };
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

 private:
  Cann();
};

/// What ends goes on to its end: the first failure is thrown when all is done.
class Ending {
 public:
  void operator()(const char* function, Result result);
  /// Throws what was kept, if anything.
  void finish() const;

 private:
  std::optional<Error> first_;
};

}  // namespace baton::ascend
