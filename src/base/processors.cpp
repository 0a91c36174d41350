#include "base/processors.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/processor_mask.hpp"
#include "base/text_file.hpp"

namespace baton {
namespace {

/// Of the line of /proc/meminfo that begins with `name`; 0 if there is none. Not with a stream: inside of an
/// interpreter that brings its own C++ library, streams read no numbers.
std::uint64_t bytes_of(std::string_view text, std::string_view name) {
  const std::size_t line = text.find(name);
  if (line == std::string_view::npos || (line > 0 && text[line - 1] != '\n')) return 0;
  text.remove_prefix(line + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace

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
  limits.total = bytes_of(*text, "MemTotal:");
  limits.available = bytes_of(*text, "MemAvailable:");
  limits.swap_free = bytes_of(*text, "SwapFree:");
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

void check_obtainable(std::string_view name, std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  if (bytes < kMiB) return;
  if (const std::uint64_t obtainable = memory_obtainable(); bytes > obtainable) {
    fail(Situation::too_large, "\"{}\" needs {} bytes; this machine can give {}", name, bytes, obtainable);
  }
}

}  // namespace baton
