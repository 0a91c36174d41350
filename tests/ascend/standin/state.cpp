#include "state.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "streams.hpp"

namespace standin {
namespace {

constexpr std::size_t kPage = std::size_t{1} << 16U;
constexpr std::size_t kArenaBytes = std::size_t{64} << 30U;

thread_local std::string text_of_thread;
thread_local std::uint64_t context_of_thread = 0;

/// STANDIN_FAIL="aclrtMalloc:2=207001,..." and STANDIN_ARCHITECTURE=3510 (and STANDIN_LOG, see state.hpp), for
/// processes that no test's code runs in.
void read_environment(State& state) {
  if (const char* number = std::getenv("STANDIN_ARCHITECTURE")) state.architecture = std::atoi(number);
  const char* wishes = std::getenv("STANDIN_FAIL");
  std::istringstream list(wishes == nullptr ? "" : wishes);
  for (std::string wish; std::getline(list, wish, ',');) {
    const std::size_t colon = wish.find(':');
    const std::size_t equals = wish.find('=');
    if (colon == std::string::npos || equals == std::string::npos) continue;
    state.failing[wish.substr(0, colon)][std::atoi(wish.c_str() + colon + 1)] = std::atoi(wish.c_str() + equals + 1);
  }
}

}  // namespace

State& State::get() {
  static State* const state = [] {
    auto* made = new State;  // streams of a process that ends in the middle may still use it
    for (int id = 0; id < kDeviceCount; ++id) made->devices[id].id = id;
    read_environment(*made);
    return made;
  }();
  return *state;
}

void Arena::open() {
  if (begin != nullptr) return;
  void* const memory = ::mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  begin = static_cast<std::byte*>(memory);
}

std::byte* Arena::take(std::size_t bytes) {
  open();
  const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage + kPage;
  if (rounded > kArenaBytes - used) return nullptr;
  std::byte* const at = begin + used;
  used += rounded;
  return at;
}

bool Arena::contains(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  return begin != nullptr && byte >= begin && byte < begin + kArenaBytes;
}

int refuse(int code, const std::string& text) {
  text_of_thread = text;
  return code;
}

int violate(int code, const std::string& text) {
  State::get().violations.push_back(text);
  return refuse(code, text);
}

std::string take_text() { return std::exchange(text_of_thread, {}); }

std::uint64_t current_context() { return context_of_thread; }
void set_current_context(std::uint64_t context) { context_of_thread = context; }

Device* current_device(State& state) {
  if (context_of_thread == 0) return nullptr;
  for (auto& [id, device] : state.devices) {
    if (device.context == context_of_thread) return &device;
  }
  return nullptr;
}

int call(const char* function, Needs needs, const std::function<int(State&, Lock&)>& body) {
  State& state = State::get();
  if (const int code = counted(function)) return code;
  Lock lock(state.mutex);
  const std::string name = function;
  if (needs != Needs::nothing && !state.initialised) {
    return violate(kNotInitialised, name + " before aclInit");
  }
  if (needs == Needs::context || needs == Needs::device) {
    const Device* device = current_device(state);
    if (device == nullptr) return violate(kNoContext, name + " on a thread without a device");
    if (needs == Needs::device && device->fault != 0)
      return refuse(device->fault, name + ": the device has failed before");
  }
  return body(state, lock);
}

int counted(const char* function) {
  State& state = State::get();
  const Lock lock(state.mutex);
  const int number = ++state.calls[function];
  auto& failing = state.failing[function];
  const auto found = failing.find(number);
  if (found == failing.end()) return kOk;
  const int code = found->second;
  failing.erase(found);
  return refuse(code, std::string(function) + " fails because a test wants it");
}

void reset() {
  State& state = State::get();
  Lock lock(state.mutex);
  for (auto& [id, device] : state.devices) {
    if (device.uses > 0) drop(state, lock, device);
    device.arena.blocks.clear();
  }
  drop_mappings(kAllContexts);
  state.communicators.clear();
  state.events.clear();
  state.functions.clear();
  state.binaries.clear();
  state.initialised = false;
  state.calls.clear();
  state.failing.clear();
  state.failing_kernels.clear();
  state.held_kernels.clear();
  state.kernels_run = 0;
  state.hold = true;
  state.violations.clear();
  state.separated.clear();
  state.finalised = false;
  state.architecture = 2201;
  state.operation_limit_us = std::uint64_t{1091} * 1'000'000;
}

void reset_counts() {
  State& state = State::get();
  const Lock lock(state.mutex);
  state.calls.clear();
  state.kernels_run = 0;
  state.failing_kernels.clear();
}

void fail_call(const std::string& function, int nth, int code) {
  State& state = State::get();
  const Lock lock(state.mutex);
  state.failing[function][state.calls[function] + nth] = code;
}

void fail_kernel(int nth, int code) {
  State& state = State::get();
  const Lock lock(state.mutex);
  state.failing_kernels[state.kernels_run + nth] = code;
}

void hold_kernel(int nth) {
  State& state = State::get();
  const Lock lock(state.mutex);
  state.held_kernels.insert(state.kernels_run + nth);
}

void release_kernels() {
  State& state = State::get();
  const Lock lock(state.mutex);
  state.hold = false;
  state.changed.notify_all();
}

void separate(int device, int other) {
  State& state = State::get();
  const Lock lock(state.mutex);
  state.separated.insert(std::minmax(device, other));
}

void set_architecture(std::int64_t number) {
  State& state = State::get();
  const Lock lock(state.mutex);
  state.architecture = number;
}

int waiting_threads() {
  const State& state = State::get();
  const Lock lock(State::get().mutex);
  int count = 0;
  for (const auto& [handle, stream] : state.streams) count += stream->waiting;
  return count;
}

std::map<std::string, int> calls() {
  State& state = State::get();
  const Lock lock(state.mutex);
  return state.calls;
}

std::vector<std::string> violations() {
  State& state = State::get();
  const Lock lock(state.mutex);
  return state.violations;
}

namespace {

/// With the lock.
std::vector<std::string> all_alive(const State& state) {
  std::vector<std::string> list;
  for (const auto& [id, device] : state.devices) {
    const std::string name = "device " + std::to_string(id);
    if (device.uses > 0) list.push_back(name + " is set " + std::to_string(device.uses) + " times");
    for (const auto& [address, bytes] : device.arena.blocks) {
      list.push_back(std::to_string(bytes) + " bytes of " + name);
    }
  }
  list.insert(list.end(), state.streams.size(), "a stream");
  list.insert(list.end(), state.events.size(), "an event");
  list.insert(list.end(), state.binaries.size(), "a binary");
  for (const std::string& one : mappings_alive(kAllContexts)) list.push_back(one);
  for (const auto& [handle, what] : state.communicators) list.push_back(what);
  return list;
}

}  // namespace

std::vector<std::string> alive() {
  State& state = State::get();
  const Lock lock(state.mutex);
  return all_alive(state);
}

void write_log(const State& state) {
  const char* const path = std::getenv("STANDIN_LOG");
  if (path == nullptr) return;
  std::string text;
  for (const std::string& one : state.violations) text += one + "\n";
  for (const std::string& one : all_alive(state)) text += "alive: " + one + "\n";
  if (text.empty()) text = "ended\n";
  // At once, and behind what other processes wrote.
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, text.data(), text.size()) < 0) std::abort();
  ::close(file);
}

}  // namespace standin
