// The side of a test program that is a rank: the test starts itself again, once per rank or once for all of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <baton/domain.hpp>

#include "comm/world.hpp"
#include "support/processes.hpp"
#include "support/scenario.hpp"

namespace baton::test {

/// Runs a scenario as a rank if the arguments ask for it, and returns the exit code of the process; -1: they do not.
[[nodiscard]] int run_as_rank(int argument_count, char** arguments);

/// The command that runs `scenario` as `rank` (Hosting::processes) or as all ranks (the others) of the job `job`.
[[nodiscard]] Command rank_command(const Scenario& scenario, Hosting hosting, int size, int rank,
                                   const std::string& job, std::vector<std::string> environment = {});

/// A name that no other job of this machine has.
[[nodiscard]] std::string fresh_job_name();

/// In a rank: whether its job is on several hosts; then how it joins.
[[nodiscard]] bool is_on_hosts();
[[nodiscard]] std::shared_ptr<comm::World> connect_on_hosts(const Newcomer& place);

/// Joins; tells the test the token of the job, by which its sockets are found.
[[nodiscard]] Domain join_and_tell(const Newcomer& place);

/// Writes `text` with the time, for the test that listens. Times of all processes of a machine can be compared.
void tell(std::string_view text);

/// When a process told `text`, in nanoseconds; -1 if it did not.
[[nodiscard]] std::int64_t when_told(const std::string& output, std::string_view text);

}  // namespace baton::test
