// Control segments among the files that processes have open.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "comm/shared_memory.hpp"

namespace baton::job {

/// The paths of the descriptors of `pid` that look like control segments. Empty if it may not be looked at.
[[nodiscard]] std::vector<std::string> control_files(pid_t pid);

/// The memory of the one at `path`, to be read; nullptr if it is none: anybody may give a memfd that name. What is in
/// it belongs to others (job_snapshot.hpp).
[[nodiscard]] std::shared_ptr<comm::SharedMemory> map_control(const std::string& path);

}  // namespace baton::job
