#include "job/hosts/hosts_launcher.hpp"

#include <filesystem>

#include "base/fail.hpp"
#include "job/launch/job_run.hpp"
#include "job/launch/local_ranks.hpp"

namespace baton::job {
LaunchResult run_on_hosts(const LaunchOptions& options, HostsOptions hosts) {
  if (const auto missing = tls_missing()) fail(Code::unsupported, "jobs on other hosts are not possible: {}", *missing);
  if (options.command.empty()) fail(Situation::missing_argument, "there is no program to run");
  HostsPlan plan;
  plan.order.job = job_name(options.command.front());
  plan.order.folder = std::filesystem::current_path().string();
  plan.order.command = options.command;
  plan.order.environment = environment_for_other_hosts(options.environment);
  plan.order.size = static_cast<std::uint32_t>(options.ranks);
  plan.order.hosts = std::move(hosts.hosts);
  plan.order.bind = options.bind;
  plan.launch_agent = std::move(hosts.launch_agent);
  plan.remote_baton = hosts.remote_baton.empty() ? std::filesystem::read_symlink("/proc/self/exe").string()
                                                 : std::move(hosts.remote_baton);
  plan.interface = std::move(hosts.interface);
  plan.version = std::move(hosts.version);
  plan.patience = hosts.patience;
  plan.trace = std::move(hosts.trace);
  const auto elsewhere = [&plan](const JobRun::Surroundings& around) {
    return std::make_unique<RemoteRanks>(std::move(plan), around);
  };
  return JobRun(options, elsewhere).run();
}

}  // namespace baton::job
