#include "base/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_file.hpp"

namespace baton {
namespace {

enum class Version { one, two };

/// The folders of this process's group and of its ancestors as far as they are visible, innermost first.
struct Levels {
  Version version = Version::two;
  std::vector<std::string> folders;
};

/// A mounted hierarchy: `group` of it is visible at `folder`.
struct Mount {
  std::string group;
  std::string folder;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  std::istringstream stream(text);
  for (std::string piece; std::getline(stream, piece, separator);) pieces.push_back(piece);
  return pieces;
}

bool lists(const std::string& names, const std::string& name) {
  return std::ranges::count(split(names, ','), name) > 0;
}

// mountinfo writes a space, tab, newline or backslash in a path as a backslash and three octal digits.
std::string unescaped(const std::string& path) {
  std::string plain;
  for (std::size_t i = 0; i < path.size(); ++i) {
    int code = 0;
    if (path[i] == '\\' && i + 3 < path.size() &&
        std::from_chars(&path[i + 1], &path[i + 4], code, 8).ptr == &path[i + 4]) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += path[i];
    }
  }
  return plain;
}

// A line of /proc/self/mountinfo: id parent device root mount-point options [tags ...] - type source super-options.
std::optional<Mount> find_mount(const KernelFiles& files, Version version, const std::string& controller) {
  const auto text = read_text_file(files.root + "/proc/self/mountinfo");
  if (!text) return std::nullopt;
  for (const std::string& line : split(*text, '\n')) {
    const auto fields = split(line, ' ');
    const auto dash = std::ranges::find(fields, "-");
    if (fields.size() < 6 || fields.end() - dash < 4) continue;
    const bool matches =
        version == Version::two ? dash[1] == "cgroup2" : dash[1] == "cgroup" && lists(dash[3], controller);
    if (matches) return Mount{unescaped(fields[3]), unescaped(fields[4])};
  }
  return std::nullopt;
}

/// The path of this process's group, in the version 1 hierarchy of the controller if there is one.
std::optional<std::pair<Version, std::string>> find_group(const KernelFiles& files, const std::string& controller) {
  const auto text = read_text_file(files.root + "/proc/self/cgroup");
  if (!text) return std::nullopt;
  std::optional<std::pair<Version, std::string>> group;
  for (const std::string& line : split(*text, '\n')) {
    // number:controllers:path; the path may hold colons.
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (lists(controllers, controller)) return std::pair(Version::one, line.substr(second + 1));
    if (controllers.empty()) group = std::pair(Version::two, line.substr(second + 1));
  }
  return group;
}

Levels find_levels(const KernelFiles& files, const std::string& controller) {
  const auto group = find_group(files, controller);
  if (!group) return {};
  const auto mount = find_mount(files, group->first, controller);
  if (!mount) return {};
  // A container often sees its own group as the top of the hierarchy: what lies above the mounted group is cut off.
  std::string inner = group->second;
  if (mount->group != "/") inner = inner.starts_with(mount->group) ? inner.substr(mount->group.size()) : "";
  Levels levels{group->first, {}};
  for (; inner.size() > 1 && inner.front() == '/'; inner.resize(inner.rfind('/'))) {
    levels.folders.push_back(files.root + mount->folder + inner);
  }
  levels.folders.push_back(files.root + mount->folder);
  return levels;
}

/// The first number of the file. Nothing for "max", -1 and files that do not exist.
std::optional<std::uint64_t> read_number(const std::string& path) {
  const auto text = read_text_file(path);
  std::uint64_t value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

/// A row "name number" of a file of such rows.
std::uint64_t read_row(const std::string& path, std::string_view name) {
  std::istringstream rows(read_text_file(path).value_or(""));
  std::string word;
  for (std::uint64_t value = 0; rows >> word >> value;) {
    if (word == name) return value;
  }
  return 0;
}

std::optional<int> processor_limit_of(Version version, const std::string& folder) {
  std::optional<std::uint64_t> quota;
  std::optional<std::uint64_t> period;
  if (version == Version::two) {
    const auto words = split(read_text_file(folder + "/cpu.max").value_or(""), ' ');
    quota = read_number(folder + "/cpu.max");
    if (quota && words.size() == 2) period = std::strtoull(words[1].c_str(), nullptr, 10);
  } else {
    quota = read_number(folder + "/cpu.cfs_quota_us");
    period = read_number(folder + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *period == 0) return std::nullopt;
  const std::uint64_t rounded_up = *quota / *period + (*quota % *period != 0 ? 1 : 0);
  return static_cast<int>(std::clamp<std::uint64_t>(rounded_up, 1, std::numeric_limits<int>::max()));
}

std::optional<CgroupMemory> memory_of(Version version, const std::string& folder) {
  const bool two = version == Version::two;
  const auto limit = read_number(folder + (two ? "/memory.max" : "/memory.limit_in_bytes"));
  const auto used = read_number(folder + (two ? "/memory.current" : "/memory.usage_in_bytes"));
  // Version 1 writes "no limit" as the largest number of whole pages.
  if (!limit || !used || *limit >= std::uint64_t{1} << 62) return std::nullopt;
  const std::string rows = folder + "/memory.stat";
  const std::string prefix = two ? "" : "total_";
  const std::uint64_t cache = read_row(rows, prefix + "inactive_file") + read_row(rows, prefix + "active_file");
  return CgroupMemory{*limit, *used - std::min(*used, cache)};
}

}  // namespace

std::optional<int> cgroup_processor_limit(const KernelFiles& files) {
  std::optional<int> least;
  const Levels levels = find_levels(files, "cpu");
  for (const std::string& folder : levels.folders) {
    const auto limit = processor_limit_of(levels.version, folder);
    if (limit && (!least || *limit < *least)) least = limit;
  }
  return least;
}

std::optional<CgroupMemory> cgroup_memory(const KernelFiles& files) {
  std::optional<CgroupMemory> tightest;
  const Levels levels = find_levels(files, "memory");
  for (const std::string& folder : levels.folders) {
    const auto memory = memory_of(levels.version, folder);
    if (memory && (!tightest || memory->left_bytes() < tightest->left_bytes())) tightest = memory;
  }
  return tightest;
}

}  // namespace baton
