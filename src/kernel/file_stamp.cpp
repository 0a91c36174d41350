#include "kernel/file_stamp.hpp"

#include <sys/stat.h>
#include <time.h>

#include "base/text_file.hpp"

namespace baton::kernel {
namespace {

std::int64_t nanoseconds(const timespec& time) noexcept { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

}  // namespace

std::optional<FileStamp> stamp_of(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{.size = static_cast<std::uint64_t>(status.st_size),
                   .modified_ns = nanoseconds(status.st_mtim),
                   .changed_ns = nanoseconds(status.st_ctim),
                   .inode = static_cast<std::uint64_t>(status.st_ino),
                   .device = static_cast<std::uint64_t>(status.st_dev)};
}

std::int64_t file_clock_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return nanoseconds(now);
}

std::optional<HashedFile> hash_file(const std::string& path) {
  const std::int64_t now = file_clock_ns();
  const auto stamp = stamp_of(path);
  if (!stamp) return std::nullopt;
  const auto content = read_text_file(path);
  if (!content) return std::nullopt;
  return HashedFile{path, stamp->changed_ns < now ? *stamp : FileStamp{}, hash_of(*content)};
}

}  // namespace baton::kernel
