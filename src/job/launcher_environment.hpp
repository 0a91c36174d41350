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
  bool several_hosts = false;
  std::string agent;  // of this host, through which ranks of several hosts meet; empty: they have to find one
  std::string root;   // then, the host of rank 0, as in "node1" or "node1:4711"; empty: the launcher does not tell
  bool root_is_asked_for = false;  // by BATON_MEET
};

/// The value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// What distinguishes two jobs of a launcher that gives them no name: its process. Nothing if it is not found.
using LauncherProcess = std::function<std::optional<std::string>()>;

/// The assignment that `environment` tells of; nothing for a process that was started alone. Understands `baton run`,
/// Open MPI, MPICH (and others that use PMI), srun and torchrun, in this order. Throws bad_launcher_environment for
/// variables that contradict each other.
[[nodiscard]] std::optional<Assignment> find_assignment(const Environment& environment,
                                                        const LauncherProcess& launcher_process);

/// The same for this process.
[[nodiscard]] std::optional<Assignment> find_assignment();

/// The first name of a list of hosts as Slurm writes it: "node01" for "node[01-03,7],login".
[[nodiscard]] std::string first_of_host_list(std::string_view list);

}  // namespace baton::job
