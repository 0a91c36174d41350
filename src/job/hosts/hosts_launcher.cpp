#include "job/hosts/hosts_launcher.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/fail.hpp"
#include "job/launch/job_run.hpp"
#include "job/launch/local_ranks.hpp"

namespace baton::job {
namespace {

/// What the shell or the system of this host says of this host.
bool belongs_to_this_host(std::string_view entry) {
  constexpr std::array kNames = {"HOSTNAME=", "SSH_", "DISPLAY=", "XAUTHORITY=", "XDG_RUNTIME_DIR=", "DBUS_"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return entry.starts_with(name); });
}

}  // namespace

LaunchResult run_on_hosts(const LaunchOptions& options, HostsOptions hosts) {
  if (const auto missing = tls_missing()) fail(Code::unsupported, "jobs on other hosts are not possible: {}", *missing);
  if (options.command.empty()) fail(Situation::missing_argument, "there is no program to run");
  HostsPlan plan;
  plan.order.job = job_name(options.command.front());
  plan.order.folder = std::filesystem::current_path().string();
  plan.order.command = options.command;
  plan.order.environment = options.environment;
  std::erase_if(plan.order.environment, belongs_to_this_host);
  plan.order.size = static_cast<std::uint32_t>(options.ranks);
  plan.order.hosts = std::move(hosts.hosts);
  plan.order.bind = options.bind;
  plan.launch_agent = std::move(hosts.launch_agent);
  plan.remote_baton = hosts.remote_baton.empty() ? std::filesystem::read_symlink("/proc/self/exe").string()
                                                 : std::move(hosts.remote_baton);
  plan.interface = std::move(hosts.interface);
  plan.version = std::move(hosts.version);
  plan.patience = hosts.patience;
  const auto elsewhere = [&plan](const JobRun::Surroundings& around) {
    return std::make_unique<RemoteRanks>(std::move(plan), around);
  };
  return JobRun(options, elsewhere).run();
}

}  // namespace baton::job
