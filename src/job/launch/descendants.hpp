// Finding what the ranks of a job have started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace baton::job {

/// The children of this process.
[[nodiscard]] std::vector<pid_t> children_of_this_process();

/// The parent of a process, or 0 if it cannot be told.
[[nodiscard]] pid_t parent_of(pid_t pid);

/// Whether `pid` is this process's child, or a child's child, and so on.
[[nodiscard]] bool is_descendant(pid_t pid);

/// The name under which a keeper appears in lists of processes; at most 15 bytes.
inline constexpr const char* kKeeperName = "baton-keeper";

/// The processes of this user, other than this one, whose environment has BATON_JOB=`job`. Zombies do not count, nor do
/// keepers: one that belongs to a job inside this job has work to do and then ends by itself.
[[nodiscard]] std::vector<pid_t> processes_of_job(const std::string& job);

/// The numbers in /proc that are processes.
[[nodiscard]] std::vector<pid_t> all_processes();

}  // namespace baton::job
