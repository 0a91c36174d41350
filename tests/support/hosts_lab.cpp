#include "support/hosts_lab.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/unique_fd.hpp"

namespace baton::test {
namespace {

constexpr int kNotPossible = 77;
constexpr const char* kLink = "eth0";

std::string environment_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

HostsLab::HostsLab() : prefix_(fmt::format("t{}x", ::getpid())) {
  watch();
  const int status = call("up", std::to_string(kHosts));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotPossible) {
    missing_ = "network namespaces are not permitted here: nothing is shown about jobs over several hosts";
  } else if (status != 0) {
    missing_ = "scripts/hosts-lab failed";
  }
}

HostsLab::~HostsLab() {
  if (missing_.empty()) static_cast<void>(call("down", ""));
}

const HostsLab& HostsLab::of_this_program() {
  static const HostsLab lab;
  return lab;
}

void HostsLab::watch() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_system("pipe2");
  const UniqueFd read_end(ends[0]);
  alive_.reset(ends[1]);
  const std::string command =
      fmt::format("read nothing; exec {}/scripts/hosts-lab down --prefix {}", BATON_SOURCE_DIR, prefix_);
  const pid_t child = ::fork();
  if (child < 0) fail_system("fork");
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  // Who ends this program ends its children, too, but not the child of one that has gone, in a session of its own.
  // Nobody waits for an end of what that could write to.
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(read_end.get(), STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(1);
}

int HostsLab::call(const std::string& command, const std::string& argument) const {
  return std::system(
      fmt::format("{}/scripts/hosts-lab {} --prefix {} {} >/dev/null", BATON_SOURCE_DIR, command, prefix_, argument)
          .c_str());
}

void HostsLab::cut(std::uint32_t host) const { static_cast<void>(call("cut", fmt::format("{}{}", prefix_, host))); }
void HostsLab::mend(std::uint32_t host) const { static_cast<void>(call("mend", fmt::format("{}{}", prefix_, host))); }

void HostsLab::change_neighbour(std::uint32_t from, std::uint32_t to, const char* change) const {
  const std::string address = fmt::format(
      "$(ip -n {0}{1} -o -4 address show dev {2} | awk '{{sub(\"/.*\", \"\", $4); print $4}}')", prefix_, to, kLink);
  const std::string command = fmt::format("ip -n {}{} neighbour {} {} dev {}", prefix_, from, change, address, kLink);
  if (std::system(command.c_str()) != 0) fail(Code::invalid_argument, "{} failed", command);
}
void HostsLab::lose(std::uint32_t from, std::uint32_t to) const {
  // An address that no host has.
  change_neighbour(from, to, "replace lladdr 02:00:00:00:00:01 nud permanent");
}
void HostsLab::lose_no_more(std::uint32_t from, std::uint32_t to) const { change_neighbour(from, to, "delete"); }

std::vector<std::string> HostsLab::environment(const std::string& hub, const std::vector<std::uint32_t>& host_of,
                                               std::uint32_t rank) const {
  // Only TCP: UCX would find out that the hosts are one machine.
  return {"TEST_HUB=" + hub, fmt::format("TEST_HOST_OF={}", fmt::join(host_of, " ")),
          fmt::format("TEST_HOST=/run/netns/{}{}", prefix_, host_of[rank]), "UCX_TLS=tcp,self"};
}

std::vector<std::uint32_t> spread_over_hosts(int ranks) {
  constexpr std::uint32_t kPattern[] = {0, 1, 1, 2, 0, 0, 3, 1};
  std::vector<std::uint32_t> host_of;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
    host_of.push_back(kPattern[rank % std::size(kPattern)]);
  return host_of;
}

void enter_host() {
  const std::string host = environment_of("TEST_HOST");
  if (host.empty()) return;
  const UniqueFd fd(::open(host.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::setns(fd.get(), CLONE_NEWNET) != 0) fail_system("entering " + host);
}

std::string hub_of_rank() { return environment_of("TEST_HUB"); }

std::vector<std::uint32_t> hosts_of_ranks() {
  std::istringstream text(environment_of("TEST_HOST_OF"));
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; text >> host;) hosts.push_back(host);
  return hosts;
}

std::string address_of_host() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) fail_system("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || std::string_view(one->ifa_name) != kLink)
      continue;
    return ::inet_ntoa(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr);
  }
  return {};
}

namespace {

/// A column of the statistics of this host's link.
std::uint64_t statistic_of_link(int column) {
  std::ifstream devices("/proc/self/net/dev");
  for (std::string line; std::getline(devices, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, colon).find(kLink) == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 1));
    std::uint64_t value = 0;
    for (int i = 0; i <= column; ++i) numbers >> value;
    return value;
  }
  return 0;
}

}  // namespace

std::uint64_t bytes_sent_by_host() { return statistic_of_link(8); }
std::uint64_t packets_sent_by_host() { return statistic_of_link(9); }

}  // namespace baton::test
