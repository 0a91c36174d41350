#include "comm/memfd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/fail.hpp"

namespace baton::comm {

UniqueFd create_memfd(const char* name, std::uint64_t bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) fail_system("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    fail_system(fmt::format("giving a memfd {} bytes", bytes));
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) fail_system("sealing a memfd");
  return fd;
}

std::shared_ptr<SharedMemory> map_memfd(const UniqueFd& fd, std::uint64_t bytes) {
  // The kernel drops descriptors that a process has no room for.
  if (!fd) fail(Code::protocol, "a segment came with no descriptor");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail_system("fstat of a segment");
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) fail(Code::protocol, "a segment came that is not a sealed memfd");
  if (static_cast<std::uint64_t>(status.st_size) != bytes) {
    fail(Code::protocol, "a segment came with {} bytes instead of the announced {}", status.st_size, bytes);
  }
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) fail_system(fmt::format("mapping a segment of {} bytes", bytes));
  return std::make_shared<SharedMemory>(address, bytes);
}

}  // namespace baton::comm
