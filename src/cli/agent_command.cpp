#include <cstdio>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "cli/command.hpp"
#include "cli/version.hpp"
#include "job/hosts/agent.hpp"

namespace baton::cli {

AgentCommand::AgentCommand(CLI::App& baton) {
  app_ =
      baton.add_subcommand("agent", "Run ranks on this host for a launcher on another; `baton run --hosts` starts it.");
  app_->group(kForPrograms)->footer("");
}

int AgentCommand::run(const std::vector<std::string>&) {
  try {
    return job::run_agent(std::string(version()));
  } catch (const Error& error) {
    // Not 127, which tells the launcher that there is no baton here.
    fmt::print(stderr, "baton agent: {}\n", error.what());
    return kExitFailure;
  }
}

}  // namespace baton::cli
