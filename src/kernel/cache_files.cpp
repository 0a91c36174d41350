#include "kernel/cache_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/log.hpp"
#include "kernel/cache.hpp"
#include "kernel/file_stamp.hpp"

namespace baton::kernel {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
/// A use within this time is not noted again.
constexpr std::int64_t kNoteEvery = 60 * kSecond;
/// What was noted within this time is not removed: more than kNoteEvery, so whatever is used now is safe for a minute.
constexpr std::int64_t kKeepFor = 120 * kSecond;

struct CacheFile {
  std::filesystem::path path;
  std::uint64_t bytes;
  std::int64_t used_ns;
  bool library;
};

std::vector<CacheFile> files_of(const std::string& folder) {
  std::vector<CacheFile> files;
  for (const std::string_view name : kCacheFolders) {
    if (name == "work") continue;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder + "/" + std::string(name), ignored)) {
      // Nothing: another process removed it meanwhile.
      if (const auto stamp = stamp_of(entry.path().string())) {
        files.push_back({entry.path(), stamp->size, stamp->modified_ns, name == "libraries"});
      }
    }
  }
  return files;
}

CacheUsage sum(const std::vector<CacheFile>& files) {
  CacheUsage usage;
  for (const CacheFile& file : files) {
    usage.bytes += file.bytes;
    usage.libraries += file.library ? 1 : 0;
  }
  return usage;
}

}  // namespace

void mark_used(const std::string& path) noexcept {
  const auto stamp = stamp_of(path);
  if (stamp && file_clock_ns() - stamp->modified_ns > kNoteEvery) ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

CacheUsage Cache::usage() const { return sum(files_of(folder_)); }

void Cache::trim() const {
  remove_abandoned_folders(work_parent());
  std::vector<CacheFile> files = files_of(folder_);
  std::uint64_t bytes = sum(files).bytes;
  if (bytes <= limit_bytes_) return;
  // Somewhat below the limit, so that the next library does not trim again.
  const std::uint64_t target = limit_bytes_ - limit_bytes_ / 10;
  const std::int64_t keep_after = file_clock_ns() - kKeepFor;
  std::ranges::sort(files, {}, &CacheFile::used_ns);
  for (const CacheFile& file : files) {
    if (bytes <= target || file.used_ns > keep_after) break;
    std::error_code ignored;
    if (std::filesystem::remove(file.path, ignored)) log::debug("removed {} from the cache", file.path.string());
    bytes -= file.bytes;
  }
}

CacheUsage Cache::clear() const {
  const std::vector<CacheFile> files = files_of(folder_);
  for (const CacheFile& file : files) {
    std::error_code ignored;
    std::filesystem::remove(file.path, ignored);
  }
  remove_abandoned_folders(work_parent());
  return sum(files);
}

}  // namespace baton::kernel
