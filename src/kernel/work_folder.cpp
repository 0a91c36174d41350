#include "kernel/work_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/fail.hpp"

namespace baton::kernel {
namespace {

/// The open folder; without one, errno says why.
UniqueFd open_and_lock(const std::string& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return folder;
  const int error_number = errno;
  folder.reset();
  errno = error_number;
  return folder;
}

/// Whether `path` still leads to the folder that is open.
bool leads_to(const std::string& path, int fd) {
  struct stat named {};
  struct stat opened {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 && named.st_ino == opened.st_ino &&
         named.st_dev == opened.st_dev;
}

}  // namespace

WorkFolder::WorkFolder(const std::string& parent) {
  // Again, if somebody who cleans up took it before it was locked.
  do {
    path_ = parent + "/XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) fail_system(fmt::format("making a folder in {}", parent));
    lock_ = open_and_lock(path_);
    if (!lock_ && errno != ENOENT && errno != EWOULDBLOCK) fail_system(fmt::format("locking {}", path_));
  } while (!lock_ || !leads_to(path_, lock_.get()));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int remove_abandoned_folders(const std::string& parent) {
  int count = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    const UniqueFd lock = open_and_lock(entry.path().string());
    if (!lock) continue;
    std::filesystem::remove_all(entry.path(), ignored);
    ++count;
  }
  return count;
}

}  // namespace baton::kernel
