#include "kernel/private_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/fail.hpp"
#include "base/unique_fd.hpp"

namespace baton::kernel {
namespace {

constexpr mode_t kForThisUser = 0700;
constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;
/// Libraries in the folder would be run.
[[noreturn]] void refuse(const std::string& folder, const std::string& why, std::vector<std::string> notes = {}) {
  throw error_in(Situation::cache_folder, fmt::format("{} is not used as a cache of kernels: {}", folder, why),
                 std::move(notes));
}

/// Without the slashes and dots at the end, behind which a link would be followed.
std::string without_tail(const std::string& folder) {
  std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.string();
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), kForThisUser) == 0 || errno == EEXIST) return;
  if (errno == ENOENT) {
    const std::string parent = std::filesystem::path(path).parent_path().string();
    if (!parent.empty() && parent != path) {
      make_folder(parent);
      if (::mkdir(path.c_str(), kForThisUser) == 0 || errno == EEXIST) return;
    }
  }
  const int error_number = errno;
  fail(Situation::cache_folder, "cannot make the folder {} for the cache of kernels: {}", path,
       std::generic_category().message(error_number));
}

/// The open folder, which belongs to this user.
UniqueFd open_own_folder(int parent, const std::string& name, const std::string& path, struct stat& status) {
  UniqueFd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && (errno == ENOTDIR || errno == ELOOP)) {
    refuse(path, "it is a link or a file, not a folder");
  }
  if (!folder) fail_system(fmt::format("opening {}", path));
  if (::fstat(folder.get(), &status) != 0) fail_system(fmt::format("looking at {}", path));
  if (status.st_uid != ::geteuid()) {
    refuse(path, fmt::format("it belongs to user {}, and this is user {}", status.st_uid, ::geteuid()));
  }
  return folder;
}

}  // namespace

std::string make_private_folders(const std::string& folder, std::span<const std::string_view> inner) {
  const std::string path = without_tail(folder);
  make_folder(path);
  struct stat status {};
  const UniqueFd outer = open_own_folder(AT_FDCWD, path, path, status);
  if ((status.st_mode & kWritableByOthers) != 0) {
    refuse(path, fmt::format("other users can write to it (mode {:04o})", status.st_mode & 07777U),
           {fmt::format("`chmod 700 {}` closes it to them", path)});
  }
  for (const std::string_view each : inner) {
    const std::string name(each);
    const std::string inside = fmt::format("{}/{}", path, name);
    if (::mkdirat(outer.get(), name.c_str(), kForThisUser) != 0 && errno != EEXIST) {
      fail_system(fmt::format("making the folder {}", inside));
    }
    const UniqueFd made = open_own_folder(outer.get(), name, inside, status);
    // Closed from now on; what others may have put in before is checked file by file.
    if ((status.st_mode & kWritableByOthers) != 0 && ::fchmod(made.get(), kForThisUser) != 0) {
      fail_system(fmt::format("closing {} to others", inside));
    }
  }
  return std::filesystem::canonical(path).string();
}

std::optional<std::string> read_private_file(const std::string& path) {
  // Non-blocking: a pipe of that name must not hold anybody up.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & kWritableByOthers) != 0) {
    return std::nullopt;
  }
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t count = ::read(file.get(), content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  return content;
}

void make_private_file(const std::string& path) {
  if (::chmod(path.c_str(), kForThisUser) != 0) fail_system(fmt::format("closing {} to others", path));
}

}  // namespace baton::kernel
