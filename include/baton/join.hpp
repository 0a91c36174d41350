// Becoming a rank of a job.
#pragma once

#include <baton/domain.hpp>
#include <baton/export.hpp>

namespace baton {

/// Joins the job this process was started in and returns the domain of all its ranks. Understands `baton run`, mpirun
/// (Open MPI, MPICH), srun and torchrun; a process that was started alone is rank 0 of 1. Blocks until all have
/// joined; throws Error otherwise. Calling it again returns the same job.
[[nodiscard]] BATON_API Domain join();

/// Joins the job `rendezvous` as `rank` of `size`, whatever the environment says. `rendezvous` is a name, optionally
/// with a backend before it: "job7", "shm:job7", "inproc:job7".
[[nodiscard]] BATON_API Domain join(std::string_view rendezvous, int rank, int size);

/// Leaves all jobs that this process has joined, because of a failure which `reason` tells in one line: the waits of
/// the other ranks end with peer_died, and show it. For code that catches what ends its program; an exception that
/// nobody catches is told without it. Nothing happens where nothing was joined, or left before.
BATON_API void leave_because(std::string_view reason) noexcept;

}  // namespace baton
