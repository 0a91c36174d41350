#include "cli/command.hpp"
#include "cli/version.hpp"
#include "job/hosts/gathering_agent.hpp"

namespace baton::cli {

GatherCommand::GatherCommand(CLI::App& baton) {
  app_ = baton.add_subcommand(
      "gather", "Connect ranks that mpirun, srun or torchrun started to those on other hosts; a rank starts it.");
  app_->group(kForPrograms)->footer("");
}

int GatherCommand::run(const std::vector<std::string>&) { return job::run_gathering_agent(std::string(version())); }

}  // namespace baton::cli
