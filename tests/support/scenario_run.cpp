#include "support/scenario_run.hpp"

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
  for (std::size_t i = 0; i < processes.count(); ++i) {
    good = good && processes.status(i) == 0;
    for (std::string& token : tokens_in(processes.output(i))) names.push_back(std::move(token));
  }
  if (!good) return testing::AssertionFailure() << processes.report();
  const std::vector<std::string> left = leftovers.found(names);
  return left.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << "left behind: " << left.front();
}

}  // namespace baton::test
