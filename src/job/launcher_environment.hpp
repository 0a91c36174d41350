// Which rank this process is, according to its launcher.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <baton/options.hpp>

namespace baton::job {

/// Which rank of which job a process is.
struct Assignment {
  int rank = 0;
  int size = 1;
  std::string rendezvous;  // equal at all ranks of the job, different for any two jobs
  std::string launcher;    // "baton run", "mpirun (Open MPI)" ...: for messages
  std::string agent;       // where the ranks of a job on several hosts meet; empty: they are all on this one
};

/// The value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// What distinguishes two jobs of a launcher that gives them no name: its process. Nothing if it is not found.
using LauncherProcess = std::function<std::optional<std::string>()>;

/// The assignment that `environment` tells of; nothing for a process that was started alone. Understands `baton run`,
/// Open MPI, MPICH (and others that use PMI), srun and torchrun, in this order. Throws bad_launcher_environment for
/// variables that contradict each other and unsupported for jobs on several hosts that others than `baton run` started.
[[nodiscard]] std::optional<Assignment> find_assignment(const Environment& environment,
                                                        const LauncherProcess& launcher_process);

/// The same for this process.
[[nodiscard]] std::optional<Assignment> find_assignment();

}  // namespace baton::job
