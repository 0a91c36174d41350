// A platform that keeps times: it tells of each task, a microsecond after the other, as two blocks on cores 4 and 2.
#include "../../../examples/platform_template/platform_template.cpp"

#include <chrono>

namespace {

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace
