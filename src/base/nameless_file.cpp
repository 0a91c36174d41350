#include "base/nameless_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/fail.hpp"

namespace baton {
namespace {

/// 16 million events.
constexpr std::uintmax_t kMuch = std::uintmax_t{1} << 30U;

std::filesystem::path roomy_folder() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code ignored;
  if (std::getenv("TMPDIR") != nullptr || ::access(memory.c_str(), W_OK | X_OK) != 0) {
    return std::filesystem::temp_directory_path();
  }
  const auto space = std::filesystem::space(memory, ignored);
  return !ignored && space.available >= kMuch ? memory : std::filesystem::temp_directory_path();
}

}  // namespace

NamelessFile::NamelessFile() : fd_(::open(roomy_folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
  // Not every file system has files without names.
  if (!fd_) fd_.reset(::memfd_create("baton-recording", MFD_CLOEXEC));
  if (!fd_) fail_system("making a file for what is recorded");
}

std::string NamelessFile::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get()); }

}  // namespace baton
