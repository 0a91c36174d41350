// The runtime as a process has it: started with its first device, ended with its last, and one time limit for all.
#pragma once

#include <cstdint>

#include "platform/ascend/cann.hpp"

namespace baton::ascend {

/// Any thread.
class Runtime {
 public:
  /// A device is about to be opened.
  static void enter();
  /// One was closed. The runtime is ended with the last, unless somebody else had started it.
  static void leave(Ending& ending);

  /// How long an operation may take, of all devices of this process. 0: as long as it likes. Returns what it is now,
  /// rounded up by the runtime; 0: no limit. On a thread with a device.
  static std::uint64_t limit_operations(std::uint64_t limit_us);
};

}  // namespace baton::ascend
