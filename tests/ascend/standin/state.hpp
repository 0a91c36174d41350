// What the stand-in knows: devices, contexts, and everything that has a handle.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control.hpp"

namespace standin {

// Codes of the runtime, as its documentation numbers them.
enum : int {
  kOk = 0,
  kParameter = 100000,
  kNotInitialised = 100001,
  kRepeatedInit = 100002,
  kRepeatedFinalize = 100037,
  kBadParameter = 107000,
  kBadDevice = 107001,
  kNoContext = 107002,
  kOtherContext = 107003,
  kBadHandle = 107017,
  kAborted = 107023,
  kUnsupported = 207000,
  kNoMemory = 207001,
  kRuntime = 507000,
  kCubeTimeout = 507014,
  kCubeException = 507015,
  kVectorTimeout = 507034,
  kVectorException = 507035,
  kSyncTimeout = 507046,
  kDriver = 507899,
};

/// Addresses of one device. None is used twice; what is not allocated cannot be touched.
struct Arena {
  std::byte* begin = nullptr;
  std::size_t used = 0;
  std::size_t live = 0;
  std::map<std::byte*, std::size_t> blocks;  // of aclrtMalloc: what was asked for

  void open();
  /// Addresses for this many bytes and a page that nobody may touch.
  [[nodiscard]] std::byte* take(std::size_t bytes);
  [[nodiscard]] bool contains(const void* address) const;
};

struct Device {
  int id = 0;
  int uses = 0;  // SetDevice less ResetDevice
  std::uint64_t context = 0;
  int fault = 0;  // sticky
  Arena arena;
  std::set<std::int32_t> peers;  // whose memory it may map
};

class Stream;
struct Event;
struct Binary;
struct Function;

/// Guarded by `mutex`, but for what a stream's thread owns while it runs a kernel.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  bool initialised = false;
  bool finalised = false;
  std::int64_t architecture = 2201;
  std::uint64_t operation_limit_us = std::uint64_t{1091} * 1'000'000;
  std::uint64_t next_handle = 1;
  std::map<int, Device> devices;
  std::map<std::uint64_t, std::unique_ptr<Stream>> streams;
  std::map<std::uint64_t, std::shared_ptr<Event>> events;
  std::map<std::uint64_t, std::shared_ptr<Binary>> binaries;
  std::map<std::uint64_t, std::shared_ptr<Function>> functions;

  std::map<std::string, int> calls;
  std::map<std::string, std::map<int, int>> failing;  // function -> number of the call -> code
  std::map<int, int> failing_kernels;
  std::set<int> held_kernels;
  int kernels_run = 0;
  bool hold = true;
  std::vector<std::string> violations;
  std::set<std::pair<int, int>> separated;  // the smaller number first
  /// Communicators, of a library of their own: its handle, and what it is.
  std::map<std::uint64_t, std::string> communicators;

  static State& get();
  [[nodiscard]] void* new_handle() { return reinterpret_cast<void*>(next_handle++ << 12U | 0xACU); }
};

inline constexpr int kDeviceCount = 8;

using Lock = std::unique_lock<std::mutex>;

/// What a call wants of the thread that makes it.
/// `context`: a device, whether it has failed or not.
enum class Needs : std::uint8_t { nothing, init, context, device };

/// Keeps `text` for aclGetRecentErrMsg of this thread.
int refuse(int code, const std::string& text);
/// The same, noted as a violation of a rule.
int violate(int code, const std::string& text);
[[nodiscard]] std::string take_text();
/// At the end of the runtime, for tests of other processes: what broke a rule and what is alive, line by line, and
/// "ended" if nothing did, behind what STANDIN_LOG names. With the lock.
void write_log(const State& state);

[[nodiscard]] std::uint64_t current_context();
void set_current_context(std::uint64_t context);
/// The device of this thread's context; null if it has none.
[[nodiscard]] Device* current_device(State& state);

/// One call: counted, failed if a test wants it, refused without what it needs, and then `body`.
int call(const char* function, Needs needs, const std::function<int(State&, Lock&)>& body);
/// Counts a call. The number that a test wants it to return, or 0.
[[nodiscard]] int counted(const char* function);

inline std::uint64_t number_of(const void* handle) { return reinterpret_cast<std::uint64_t>(handle); }

// Of streams.cpp, for the end of a device. Without waiting, what is queued is dropped.
enum class Wait : std::uint8_t { yes, no };
void end_streams_of(State& state, Lock& lock, const Device& device, Wait wait);
/// What of virtual_memory.cpp and hccl.cpp is alive, and its end with a device, or with everything.
[[nodiscard]] std::vector<std::string> mappings_alive(std::uint64_t context);
void drop_mappings(std::uint64_t context);
inline constexpr std::uint64_t kAllContexts = 0;
/// Ends the use of a device, whatever is left of it (devices.cpp).
void drop(State& state, Lock& lock, Device& device);
[[nodiscard]] bool is_busy(State& state, const Device& device);

}  // namespace standin
