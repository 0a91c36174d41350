#include <cstdlib>

#include <fmt/ranges.h>

#include <baton/error.hpp>

#include "base/environment.hpp"
#include "cli/doctor/findings.hpp"
#include "job/hosts/interfaces.hpp"
#include "job/hosts/tls_channel.hpp"
#include "job/launch/program_path.hpp"

namespace baton::cli {
namespace {

Finding check_tls() {
  if (const auto missing = job::tls_missing()) return {.item = {}, .verdict = Verdict::missing, .text = *missing};
  return {.item = {}, .verdict = Verdict::ok, .text = job::tls_library() + ", protects what hosts tell each other"};
}

Finding check_ssh() {
  try {
    const std::string path = job::find_program("ssh", job::search_path(environment_of_this_process()));
    return {.item = {}, .verdict = Verdict::ok, .text = path + ", starts agents on other hosts"};
  } catch (const Error&) {
    return {.item = {},
            .verdict = Verdict::missing,
            .text = "starts agents on other hosts; without it `baton run --hosts` needs --launch-agent"};
  }
}

Finding check_network() {
  std::vector<std::string> names;
  for (const job::NetworkInterface& one : job::network_interfaces()) {
    if (!one.loopback) names.push_back(fmt::format("{} ({})", one.name, fmt::join(one.addresses, ", ")));
  }
  if (names.empty()) {
    return {.item = {},
            .verdict = Verdict::missing,
            .text = "no interface but the loopback is up: no other host is reached"};
  }
  return {.item = {},
          .verdict = Verdict::ok,
          .text = fmt::format("agents are offered {}; --interface chooses one", fmt::join(names, ", "))};
}

}  // namespace

std::vector<Finding> check_hosts() {
  return {try_out("TLS", Need::optional, check_tls), try_out("ssh", Need::optional, check_ssh),
          try_out("network", Need::optional, check_network)};
}

}  // namespace baton::cli
