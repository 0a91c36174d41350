// The limits that control groups (version 1 and 2) put on this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace baton {

/// Where the kernel's files are: `root` precedes /proc and the mount points of the groups. Empty on a real machine.
struct KernelFiles {
  std::string root;
};

/// How many processors the group may keep busy, rounded up; nothing without a limit. The tightest ancestor counts.
[[nodiscard]] std::optional<int> cgroup_processor_limit(const KernelFiles& files);

struct CgroupMemory {
  std::uint64_t limit_bytes;
  std::uint64_t used_bytes;  ///< Without the file cache, which gives way when memory is needed.
  [[nodiscard]] std::uint64_t left_bytes() const noexcept {
    return limit_bytes > used_bytes ? limit_bytes - used_bytes : 0;
  }
};

/// Of the group and its ancestors the one with the least memory left; nothing without a limit.
[[nodiscard]] std::optional<CgroupMemory> cgroup_memory(const KernelFiles& files);

}  // namespace baton
