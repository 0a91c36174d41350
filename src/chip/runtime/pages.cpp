#include "chip/runtime/pages.hpp"

#include <sys/mman.h>

#include "base/fail.hpp"

namespace baton::chip {

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail(Situation::too_large, "{} bytes for a chip are more than this machine gives", bytes);
  memory_ = memory;
}

Pages::~Pages() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

}  // namespace baton::chip
