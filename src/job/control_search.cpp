#include "job/control_search.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "wire/control.hpp"

namespace baton::job {

std::vector<std::string> control_files(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  const std::string wanted = fmt::format("/memfd:{} (deleted)", wire::kControlSegmentName);
  std::vector<std::string> paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (!directory) return paths;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string path = fmt::format("{}/{}", folder, entry->d_name);
    char target[256];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == wanted) paths.push_back(path);
  }
  return paths;
}

std::shared_ptr<comm::SharedMemory> map_control(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return nullptr;
  struct stat status {};
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  // What may still shrink would fault under the reader.
  if (::fstat(fd.get(), &status) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0 || status.st_size <= 0) {
    return nullptr;
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return nullptr;
  auto memory = std::make_shared<comm::SharedMemory>(address, bytes);
  if (const char* defect = wire::control_defect(memory->address(), bytes)) {
    log::debug("{}: {}", path, defect);
    return nullptr;
  }
  return memory;
}

}  // namespace baton::job
