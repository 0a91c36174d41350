#include "platform/ascend/runtime.hpp"

#include <mutex>
#include <optional>

namespace baton::ascend {
namespace {

struct Process {
  std::mutex mutex;
  int devices = 0;
  bool started_here = false;
  std::optional<std::uint64_t> wanted_us;
  std::uint64_t actual_us = 0;
};

Process& process() {
  static Process process;
  return process;
}

}  // namespace

void Runtime::enter() {
  const Cann& cann = Cann::get();
  const std::lock_guard lock(process().mutex);
  if (process().devices == 0) {
    const Result result = cann.aclInit(nullptr);
    if (result != kRepeatedInit) cann.check("aclInit", result);
    process().started_here = result == 0;
    try {
      cann.check_version();
    } catch (...) {
      if (process().started_here) static_cast<void>(cann.aclFinalize());  // what began this is told
      throw;
    }
  }
  ++process().devices;
}

void Runtime::leave(Ending& ending) {
  const std::lock_guard lock(process().mutex);
  if (--process().devices > 0) return;
  process().wanted_us.reset();
  if (process().started_here) ending("aclFinalize", Cann::get().aclFinalize());
}

std::uint64_t Runtime::limit_operations(std::uint64_t limit_us) {
  const std::lock_guard lock(process().mutex);
  if (process().wanted_us == limit_us) return process().actual_us;
  const Cann& cann = Cann::get();
  std::uint64_t actual = 0;
  cann.check("aclrtSetOpExecuteTimeOutV2", cann.aclrtSetOpExecuteTimeOutV2(limit_us, &actual));
  process().wanted_us = limit_us;
  process().actual_us = actual == UINT64_MAX ? 0 : actual;
  return process().actual_us;
}

}  // namespace baton::ascend
