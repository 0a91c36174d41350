#include "support/scenario_run.hpp"

#include <sys/wait.h>

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
  const Leftovers leftovers;
  const std::string job = fresh_job_name();
  Processes processes;
  const int count = hosting == Hosting::processes ? size : 1;
  for (int rank = 0; rank < count; ++rank) processes.start(rank_command(scenario, hosting, size, rank, job));
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
