// The process that started this job's processes, for launchers that do not name their jobs.
#pragma once

#include <optional>
#include <string>

namespace baton::job {

/// "pid.start_time" of the nearest ancestor that is a launcher's proxy (MPICH's), or of the parent if none is.
[[nodiscard]] std::optional<std::string> launcher_ancestor();

}  // namespace baton::job
