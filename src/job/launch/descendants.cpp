#include "job/launch/descendants.hpp"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/text_file.hpp"

namespace baton::job {
namespace {

// Deeper than any real tree of processes; ends the walk if numbers are reused under it.
constexpr int kDeepestTree = 1000;

std::optional<pid_t> parse_pid(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

bool is_keeper(pid_t pid) {
  const auto name = read_text_file(fmt::format("/proc/{}/comm", pid));
  return name && *name == fmt::format("{}\n", kKeeperName);
}

}  // namespace

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
  if (!directory) return pids;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto pid = parse_pid(entry->d_name)) pids.push_back(*pid);
  }
  return pids;
}

pid_t parent_of(pid_t pid) {
  const auto stat = read_text_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return 0;
  // "PID (NAME) STATE PARENT ...": the name may hold anything, parentheses too.
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || stat->size() < name_end + 5) return 0;
  const std::string_view rest = std::string_view(*stat).substr(name_end + 4);
  return parse_pid(rest.substr(0, rest.find(' '))).value_or(0);
}

bool is_descendant(pid_t pid) {
  const pid_t self = ::getpid();
  for (int depth = 0; depth < kDeepestTree && pid > 1; ++depth) {
    pid = parent_of(pid);
    if (pid == self) return true;
  }
  return false;
}

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> pids;
  if (const auto list = read_text_file("/proc/thread-self/children")) {
    for (std::string_view rest = *list; !rest.empty();) {
      const std::size_t space = rest.find(' ');
      if (const auto pid = parse_pid(rest.substr(0, space))) pids.push_back(*pid);
      rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
    }
    return pids;
  }
  const pid_t self = ::getpid();
  for (const pid_t pid : all_processes()) {
    if (parent_of(pid) == self) pids.push_back(pid);
  }
  return pids;
}

std::vector<pid_t> processes_of_job(const std::string& job) {
  const std::string wanted = fmt::format("BATON_JOB={}", job);
  std::vector<pid_t> pids;
  for (const pid_t pid : all_processes()) {
    if (pid == ::getpid() || is_keeper(pid)) continue;
    // Unreadable for other users' processes, empty for zombies.
    const auto environment = read_text_file(fmt::format("/proc/{}/environ", pid));
    if (!environment) continue;
    for (std::string_view rest = *environment; !rest.empty();) {
      const std::size_t end = rest.find('\0');
      if (rest.substr(0, end) == wanted) {
        pids.push_back(pid);
        break;
      }
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  return pids;
}

}  // namespace baton::job
