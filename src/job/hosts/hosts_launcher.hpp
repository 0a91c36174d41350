// Running a program as the ranks of a job over several hosts.
#pragma once

#include "job/hosts/remote_ranks.hpp"
#include "job/launch/launcher.hpp"

namespace baton::job {

struct HostsOptions {
  std::vector<HostShare> hosts;
  std::string launch_agent = kDefaultLaunchAgent;
  std::string remote_baton;  // the path of `baton` on the hosts; empty: that of this one
  std::string interface;
  std::string version;
  std::string trace = {};  // see HostsPlan
  std::chrono::nanoseconds patience = std::chrono::seconds(30);
};

/// As Launcher, with the ranks where `hosts` says. Throws Error (unsupported) if this build cannot.
[[nodiscard]] LaunchResult run_on_hosts(const LaunchOptions& options, HostsOptions hosts);

}  // namespace baton::job
