// libhcomm.so: communicators, as far as platforms a2a3 and a5 use them. Ranks are processes of this host, which meet in
// memory that the root made.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "state.hpp"

namespace standin {
namespace {

// HcclResult.
enum : int { kSuccess = 0, kPara = 1, kPtr = 2, kTimeout = 9 };

constexpr std::size_t kRootInfoBytes = 4108;

/// In memory of all ranks of a communicator.
struct Meeting {
  static constexpr std::uint32_t kRanks = 4096;

  std::atomic<std::uint32_t> size;
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint8_t> taken[kRanks];
};

struct Communicator {
  Meeting* meeting;
  std::uint32_t rank;
};

std::map<std::uint64_t, Communicator> communicators;  // with the lock of the state, which has their names

void violate_in_hccl(const std::string& text) {
  State& state = State::get();
  const Lock lock(state.mutex);
  static_cast<void>(violate(kPara, text));
}

/// How long ranks wait for each other.
std::chrono::milliseconds connect_limit() {
  const char* seconds = std::getenv("HCCL_CONNECT_TIMEOUT");
  return std::chrono::seconds(seconds == nullptr ? 120 : std::atoi(seconds));
}

/// Until the word is not `seen` any more.
bool changes(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::steady_clock::time_point end) {
  while (word.load() == seen) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    const timespec limit{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
  }
  return true;
}

void wake(std::atomic<std::uint32_t>& word) { ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

Meeting* mapped(int file) {
  void* const memory = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Meeting*>(memory);
}

bool has_device() {
  State& state = State::get();
  const Lock lock(state.mutex);
  return current_device(state) != nullptr;
}

/// Waits until `count` ranks have added themselves to `word`.
bool all_come(std::atomic<std::uint32_t>& word, std::uint32_t count) {
  const auto end = std::chrono::steady_clock::now() + connect_limit();
  for (std::uint32_t seen = word.load(); seen < count; seen = word.load()) {
    if (!changes(word, seen, end)) return false;
  }
  return true;
}

}  // namespace
}  // namespace standin

using namespace standin;  // NOLINT: the functions below are the stand-in's face

extern "C" {

STANDIN_API int HcclGetRootInfo(void* info) {
  if (const int code = counted("HcclGetRootInfo")) return code;
  if (!has_device()) {
    violate_in_hccl("HcclGetRootInfo without a device");
    return kPara;
  }
  // The listener lives as long as the process.
  const int file = ::memfd_create("standin-root", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, sizeof(Meeting)) != 0) return kPara;
  std::memset(info, 0x5A, kRootInfoBytes);
  std::snprintf(static_cast<char*>(info), 64, "/proc/%d/fd/%d", ::getpid(), file);
  return kSuccess;
}

STANDIN_API int HcclCommInitRootInfo(std::uint32_t size, const void* info, std::uint32_t rank, void** out) {
  if (const int code = counted("HcclCommInitRootInfo")) return code;
  const char* text = static_cast<const char*>(info);
  if (!has_device() || size == 0 || rank >= size || size > Meeting::kRanks || text[kRootInfoBytes - 1] != 0x5A) {
    violate_in_hccl(
        "HcclCommInitRootInfo without a device, as no rank, or without all bytes of the root's information");
    return kPara;
  }
  const int file = ::open(text, O_RDWR | O_CLOEXEC);
  Meeting* const meeting = file < 0 ? nullptr : mapped(file);
  if (file >= 0) ::close(file);
  if (meeting == nullptr) return kTimeout;
  std::uint32_t expected = 0;
  if (!meeting->size.compare_exchange_strong(expected, size) && expected != size) return kTimeout;
  if (meeting->taken[rank].exchange(1) != 0) {
    violate_in_hccl("HcclCommInitRootInfo: two ranks have the same number");
    return kTimeout;
  }
  meeting->arrived.fetch_add(1);
  wake(meeting->arrived);
  if (!all_come(meeting->arrived, size)) return kTimeout;
  {
    State& state = State::get();
    const Lock lock(state.mutex);
    *out = state.new_handle();
    communicators.emplace(number_of(*out), Communicator{meeting, rank});
    state.communicators.emplace(number_of(*out), "a communicator");
  }
  set_current_context(0);  // callers have to restore theirs
  return kSuccess;
}

STANDIN_API int HcclCommDestroy(void* handle) {
  if (const int code = counted("HcclCommDestroy")) return code;
  {
    State& state = State::get();
    const Lock lock(state.mutex);
    const auto found = communicators.find(number_of(handle));
    if (found == communicators.end()) {
      static_cast<void>(violate(kPtr, "HcclCommDestroy of what is not alive"));
      return kPtr;
    }
    ::munmap(found->second.meeting, sizeof(Meeting));
    communicators.erase(found);
    state.communicators.erase(number_of(handle));
  }
  return kSuccess;
}

}  // extern "C"
