#include "support/scenario_run.hpp"

#include <sys/wait.h>

#include <optional>

#include <fmt/format.h>

#include "support/hosts_lab.hpp"
#include "support/hub.hpp"
#include "support/leftovers.hpp"
#include "support/rank_program.hpp"
#include "support/scale.hpp"

namespace baton::test {

std::vector<std::string> tokens_in(const std::string& output) {
  constexpr std::string_view kMark = "token=";
  std::vector<std::string> tokens;
  for (std::size_t at = output.find(kMark); at != std::string::npos; at = output.find(kMark, at + 1)) {
    tokens.push_back(output.substr(at + kMark.size(), 32));
  }
  return tokens;
}

testing::AssertionResult run_scenario(const Scenario& scenario, Hosting hosting, int size) {
  const bool on_hosts = hosting == Hosting::hosts;
  if (on_hosts && !HostsLab::of_this_program().missing().empty()) {
    [] { GTEST_SKIP() << HostsLab::of_this_program().missing(); }();
    return testing::AssertionSuccess();
  }
  const Leftovers leftovers;
  const std::string job = fresh_job_name();
  Processes processes;
  std::optional<Hub> hub;
  if (on_hosts) hub.emplace();
  const int count = hosting == Hosting::processes || on_hosts ? size : 1;
  for (int rank = 0; rank < count; ++rank) {
    std::vector<std::string> environment;
    if (on_hosts) {
      environment = HostsLab::of_this_program().environment(hub->path(), spread_over_hosts(size),
                                                            static_cast<std::uint32_t>(rank));
      // A step between hosts takes as long as ten inside one.
      environment.push_back(fmt::format("TEST_SCALE={}", scale_factor() / 10));
    }
    processes.start(rank_command(scenario, hosting, size, rank, job, std::move(environment)));
  }
  bool good = processes.finish(Deadline::after(std::chrono::seconds(patience_seconds())));
  std::vector<std::string> names = {job};
  std::size_t skipped = 0;
  for (std::size_t i = 0; i < processes.count(); ++i) {
    const int status = processes.status(i);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kSkippedExitCode) ++skipped;
    good = good && (status == 0 || skipped > 0);
    for (std::string& token : tokens_in(processes.output(i))) names.push_back(std::move(token));
  }
  // All or none: one that skips while others go on is a failure.
  good = good && (skipped == 0 || skipped == processes.count());
  if (!good) return testing::AssertionFailure() << processes.report();
  const std::vector<std::string> left = leftovers.found(names);
  if (skipped != 0) [&] { GTEST_SKIP() << processes.output(0); }();
  return left.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << "left behind: " << left.front();
}

}  // namespace baton::test
