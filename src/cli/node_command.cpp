#include "cli/command.hpp"
#include "cli/version.hpp"
#include "job/hosts/node_launcher.hpp"

namespace baton::cli {

NodeCommand::NodeCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("node", "Start the chips of a node on other hosts; a program's Worker starts it.");
  app_->group(kForPrograms)->footer("");
}

int NodeCommand::run(const std::vector<std::string>&) { return job::run_node_launcher(std::string(version())); }

}  // namespace baton::cli
