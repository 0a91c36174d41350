#include "base/processors.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/processor_mask.hpp"
#include "base/text_file.hpp"

namespace baton {
int usable_processors() {
  static const int count = options().processors ? *options().processors : count_processors();
  return count;
}

int count_processors(const KernelFiles& files) {
  const int allowed = allowed_processors().count();
  return std::max(1, std::min(allowed, cgroup_processor_limit(files).value_or(allowed)));
}

MemoryLimits memory_limits(const KernelFiles& files) {
  const std::string path = files.root + "/proc/meminfo";
  const auto text = read_text_file(path);
  if (!text) fail_system("read " + path);
  MemoryLimits limits{};
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    if (!(words >> name >> kibibytes)) continue;
    if (name == "MemTotal:") limits.total = kibibytes * 1024;
    if (name == "MemAvailable:") limits.available = kibibytes * 1024;
    if (name == "SwapFree:") limits.swap_free = kibibytes * 1024;
  }
  if (const auto group = cgroup_memory(files)) {
    limits.cgroup_limit = group->limit_bytes;
    limits.cgroup_used = group->used_bytes;
  }
  return limits;
}

std::uint64_t MemoryLimits::obtainable() const noexcept {
  const std::uint64_t machine = available + swap_free;
  if (!cgroup_limit) return machine;
  return std::min(machine, CgroupMemory{*cgroup_limit, cgroup_used}.left_bytes());
}

std::uint64_t memory_obtainable() { return memory_limits().obtainable(); }

}  // namespace baton
