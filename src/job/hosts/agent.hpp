// The agent: what runs the ranks of a job on one host for a launcher on another.
#pragma once

#include <string>

namespace baton::job {

/// Reads who called it, and the token of the job, from standard input, connects to the launcher and does what it says
/// until the job is over or the launcher is gone. Then nothing of the job is left here. `version` must be that of the
/// launcher. Returns the exit code. Throws Error if it does not get that far. For processes with one thread.
[[nodiscard]] int run_agent(const std::string& version);

}  // namespace baton::job
