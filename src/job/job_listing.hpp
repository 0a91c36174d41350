// Finding the jobs that run now.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "job/job_snapshot.hpp"

namespace baton::job {

/// The live jobs of this user, oldest first; of those over several hosts, the ranks of all hosts. There is no registry:
/// every process of a job holds its control segment, and the kernel lists what processes hold.
[[nodiscard]] std::vector<JobSnapshot> find_jobs();

/// What all ranks of a job do, as lines of a report.
struct JobExplanation {
  std::string name;
  std::vector<std::string> lines;
};

/// Of the jobs whose name begins with `name`. Throws Error (invalid_argument), with those there are, if none does.
[[nodiscard]] std::vector<JobExplanation> explain_jobs(std::string_view name);

/// The name people know the job by: BATON_JOB for one that `baton run` started, else with its launcher in front.
[[nodiscard]] std::string display_name(const JobSnapshot& job);

/// What a rank does, in a word or two: "running", "waiting", "left", "dead: SIGKILL",
/// "not seen".
[[nodiscard]] std::string describe_state(const JobSnapshot& job, const RankSnapshot& rank);

}  // namespace baton::job
