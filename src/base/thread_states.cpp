#include "base/thread_states.hpp"

#include <dirent.h>

#include <charconv>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/text_file.hpp"

namespace baton {
namespace {

/// What follows `name` in its line, without blanks; empty if there is none.
std::string_view field(std::string_view status, std::string_view name) {
  const std::size_t line = status.find(name);
  if (line == std::string_view::npos || (line > 0 && status[line - 1] != '\n')) return {};
  const std::size_t begin = status.find_first_not_of(" \t", line + name.size());
  return begin == std::string_view::npos ? std::string_view() : status.substr(begin, status.find('\n', begin) - begin);
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::optional<std::uint64_t> switches_of_sleeper(std::string_view status) {
  if (!field(status, "State:").starts_with('S')) return std::nullopt;
  return number(field(status, "voluntary_ctxt_switches:")) + number(field(status, "nonvoluntary_ctxt_switches:"));
}

bool append_sleeping_threads(pid_t pid, pid_t except, std::vector<SleepingThread>& threads) {
  const std::string folder = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (!directory) return false;
  while (const dirent* entry = ::readdir(directory.get())) {
    pid_t thread = 0;
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, thread).ptr != end || thread == except) continue;
    const auto status = read_text_file(fmt::format("{}/{}/status", folder, thread));
    if (!status) continue;  // it has ended
    const auto switches = switches_of_sleeper(*status);
    if (!switches) return false;
    threads.push_back({thread, *switches});
  }
  return true;
}

}  // namespace baton
