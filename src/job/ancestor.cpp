#include "job/ancestor.hpp"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "base/liveness.hpp"

namespace baton::job {
namespace {

constexpr std::string_view kProxyName = "hydra_pmi_proxy";

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Field 4 of /proc/PID/stat, after the name in parentheses; 0 if unknown.
std::uint32_t parent_of(std::uint32_t pid) {
  const std::string stat = read_line(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return 0;
  std::uint32_t parent = 0;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), parent);
  return parent;
}

}  // namespace

std::optional<std::string> launcher_ancestor() {
  const auto parent = static_cast<std::uint32_t>(::getppid());
  std::uint32_t found = parent;
  for (std::uint32_t pid = parent; pid > 1; pid = parent_of(pid)) {
    if (read_line(fmt::format("/proc/{}/comm", pid)) == kProxyName) {
      found = pid;
      break;
    }
  }
  const auto start_time = process_start_time(found);
  if (!start_time) return std::nullopt;
  return fmt::format("{}.{}", found, *start_time);
}

}  // namespace baton::job
