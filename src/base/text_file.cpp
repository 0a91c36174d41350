#include "base/text_file.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.hpp"

namespace baton {

std::optional<std::string> read_text_file(const std::string& path) {
  int opened = -1;
  do {
    opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (opened < 0 && errno == EINTR);
  const UniqueFd file(opened);
  if (!file) return std::nullopt;
  std::string content;
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
    if (count == 0) return content;
    if (count > 0) {
      content.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

}  // namespace baton
