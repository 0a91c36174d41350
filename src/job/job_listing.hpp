// Finding the jobs that run now.
#pragma once

#include <vector>

#include "job/job_snapshot.hpp"

namespace baton::job {

/// The live jobs of this user, oldest first. There is no registry: every process of a job holds its control segment,
/// and the kernel lists what processes hold.
[[nodiscard]] std::vector<JobSnapshot> find_jobs();

/// The name people know the job by: BATON_JOB for one that `baton run` started, else with its launcher in front.
[[nodiscard]] std::string display_name(const JobSnapshot& job);

/// What a rank does, in a word or two: "running", "waiting", "left", "dead: SIGKILL".
[[nodiscard]] std::string describe_state(const JobSnapshot& job, const RankSnapshot& rank);

}  // namespace baton::job
