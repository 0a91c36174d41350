#include "base/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.hpp"

namespace baton {
namespace {

constexpr std::size_t kMostOfAPipe = std::size_t{64} * 1024 * 1024;

}  // namespace

std::optional<std::string> read_text_file(const std::string& path) {
  int opened = -1;
  do {
    opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (opened < 0 && errno == EINTR);
  const UniqueFd file(opened);
  if (!file) return std::nullopt;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return std::nullopt;
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    errno = ENODEV;
    return std::nullopt;
  }
  std::string content;
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
    if (count == 0) return content;
    if (count > 0) {
      content.append(chunk.data(), static_cast<std::size_t>(count));
      if (!S_ISREG(status.st_mode) && content.size() > kMostOfAPipe) {
        errno = EFBIG;
        return std::nullopt;
      }
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

}  // namespace baton
