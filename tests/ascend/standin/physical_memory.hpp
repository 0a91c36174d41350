// Physical memory of devices: what it is in this process and in others that have it (R 11-04).
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace standin {

/// In front of the bytes, for all processes that have the memory.
struct Shared {
  static constexpr std::size_t kBytes = std::size_t{1} << 16U;
  static constexpr std::uint32_t kPids = 8192;
  static constexpr std::uint32_t kImporters = 4096;

  std::atomic<std::int32_t> importers[kImporters];  // processes; 0: nobody
  std::atomic<std::uint32_t> freed;
  std::int32_t device;
  std::uint32_t open_to_all;
  std::uint64_t bytes;
  std::atomic<std::uint32_t> pid_count;
  std::int32_t pids[kPids];
};
static_assert(sizeof(Shared) <= Shared::kBytes);

/// This process imports the memory. False if too many do.
[[nodiscard]] bool add_importer(Shared& shared);
void remove_importer(Shared& shared);
/// Whether a process that runs has imported it.
[[nodiscard]] bool has_importers(const Shared& shared);

struct Physical {
  std::uint64_t context = 0;
  int file = -1;
  Shared* shared = nullptr;
  bool imported = false;
  bool exported = false;
  bool of_fabric = false;
  int mappings = 0;
  std::uint64_t origin = 0;  // the shareable handle that it came from

  ~Physical() {
    if (shared != nullptr) ::munmap(shared, Shared::kBytes);
    if (file >= 0) ::close(file);
  }
};

/// What `file` is, or is to be.
[[nodiscard]] std::shared_ptr<Physical> opened(int file);

/// By handle. With the state's lock.
extern std::map<std::uint64_t, std::shared_ptr<Physical>> physical;

}  // namespace standin
