#include "job/gathering.hpp"

#include <sched.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include <fmt/ranges.h>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/quote.hpp"
#include "base/spawn.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/backends/shm/unix_address.hpp"
#include "job/agent_rendezvous.hpp"
#include "job/launch/pipe_ends.hpp"
#include "job/pmix.hpp"
#include "job/program_of_baton.hpp"
#include "wire/control.hpp"

namespace baton::job {
namespace {

constexpr std::size_t kTokenDigits = 64;
constexpr const char* kTokenRemedy = "export BATON_JOB_TOKEN=$(openssl rand -hex 32) where all ranks get it from.";
// The agent says at its deadline who is missing; a rank hears it first.
constexpr std::chrono::seconds kAnswerPatience{5};

/// Of BATON_JOB_TOKEN; empty if it is not set.
std::string token_in_environment() {
  const char* value = std::getenv("BATON_JOB_TOKEN");
  std::string token = value == nullptr ? "" : value;
  const bool digits = std::ranges::all_of(token, [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (value != nullptr && (token.size() != kTokenDigits || !digits)) {
    throw Error(Code::bad_option,
                fmt::format("BATON_JOB_TOKEN has {} characters; {} hexadecimal digits are accepted", token.size(),
                            kTokenDigits),
                {}, kTokenRemedy);
  }
  return token;
}

std::string make_token() {
  std::array<unsigned char, kTokenDigits / 2> bytes;
  // So few bytes always come at once.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) fail_system("getrandom");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

/// Ports of rank 0's host that all ranks work out alike: below those that systems give to sockets bound to any port.
/// Several, because one may be taken; the token tells whether it is by this job.
std::vector<std::uint16_t> ports_of(std::string_view job) {
  constexpr std::uint64_t kFirst = 20000;
  constexpr std::uint64_t kLast = 32767;
  constexpr std::uint64_t kChoices = 4;
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  std::vector<std::uint16_t> ports;
  for (std::uint64_t i = 0; i < kChoices; ++i)
    ports.push_back(static_cast<std::uint16_t>(kFirst + ((hash >> 20U) + i * 3001) % (kLast - kFirst + 1)));
  return ports;
}

struct Root {
  std::string host;
  std::optional<std::uint16_t> port;
};

/// "node1", "node1:4711", "::1", "[::1]:4711".
Root parse_root(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const bool has_port = colon != std::string::npos && (bracketed ? text[colon - 1] == ']' : text.find(':') == colon);
  Root root{has_port ? text.substr(0, colon) : text, std::nullopt};
  if (bracketed && root.host.ends_with(']')) root.host = root.host.substr(1, root.host.size() - 2);
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  if (has_port) {
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
    if (error != std::errc() || stop != end || port == 0)
      fail(Code::bad_option, "BATON_MEET={} has no port behind its colon; 1 to 65535 are accepted", quote(text));
    root.port = port;
  }
  if (root.host.empty()) fail(Code::bad_option, "BATON_MEET={} names no host", quote(text));
  return root;
}

/// Starts the agent of this host, which takes ranks at `socket`.
void start_agent(const UniqueFd& socket, const GatheringOrder& order) {
  std::vector<std::string> environment = environment_of_this_process();
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("BATON_JOB_TOKEN="); });
  auto [input, our_input] = make_pipe();
  // What it would print would keep the streams of a rank open that has ended.
  const pid_t pid = spawn({.program = find_program_of_baton("baton"),
                           .arguments = {"baton", "gather"},
                           .environment = std::move(environment),
                           .descriptors = {input.get(), SpawnCommand::kNothing, SpawnCommand::kNothing, socket.get()}});
  const std::string frame = encode(order);
  // A pipe takes as much at once.
  const bool told = ::write(our_input.get(), frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
  // The process that was started ends when it has one of its own.
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!told || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(Code::launch_failed, "the agent that brings ranks of several hosts together did not start: `baton gather` {}",
         describe_wait_status(status));
  }
}

/// To the agent of this host, which is started if there is none.
UniqueFd reach_agent(const GatheringOrder& order, const Deadline& deadline) {
  const std::string address = shm::rendezvous_address("gather/" + order.job);
  const shm::UnixAddress where(address);
  while (!deadline.passed()) {
    UniqueFd mine(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!mine) fail_system("creating a socket");
    if (::bind(mine.get(), where.get(), where.length()) == 0) {
      if (::listen(mine.get(), SOMAXCONN) != 0) fail_system("listening at " + quote(address));
      start_agent(mine, order);
    } else if (errno != EADDRINUSE) {
      fail_system("binding " + quote(address));
    }
    UniqueFd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(connection.get(), where.get(), where.length()) == 0) {
      if (const shm::PeerProcess peer = shm::peer_of(connection); peer.uid != ::getuid())
        fail(Code::join_refused, "{} is held by process {} of another user (uid {})", quote(address), peer.pid,
             peer.uid);
      return connection;
    }
    if (errno != ECONNREFUSED && errno != EINTR && errno != EAGAIN) fail_system("connecting to " + quote(address));
    // Somebody is between binding and listening, or just gone.
    ::sched_yield();
  }
  fail(Code::join_timeout, "no agent of \"{}\" came to be on this host", order.job);
}

/// Where rank 0's host is and the token, as PMIx carries them.
std::string to_text(const Reachable& reachable, const std::string& token) {
  return fmt::format("{} {} {}", token, reachable.port, fmt::join(reachable.addresses, ","));
}

constexpr std::string_view kFailed = "failed ";

void read_text(const std::string& text, GatheringOrder& order) {
  if (text.starts_with(kFailed)) fail(Code::peer_died, "rank 0 could not begin: {}", text.substr(kFailed.size()));
  std::string_view rest = text;
  const auto word = [&rest](char separator) {
    const std::size_t end = rest.find(separator);
    const std::string_view found = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return std::string(found);
  };
  order.token = word(' ');
  const std::string port_text = word(' ');
  std::uint16_t port = 0;
  std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  while (!rest.empty()) order.roots.push_back(word(','));
  if (port == 0 || order.roots.empty() || order.token.size() != kTokenDigits)
    fail(Code::protocol, "what rank 0 published through PMIx makes no sense");
  order.ports = {port};
}

/// Rank 0 tells the others by PMIx where it is; `order` has everything else.
std::unique_ptr<comm::Rendezvous> join_by_pmix(Pmix& pmix, const Join& join, GatheringOrder order,
                                               const Deadline& deadline, const Deadline& answer_deadline) {
  constexpr const char* kKey = "baton.gathering";
  if (join.rank != 0) {
    pmix.fence(deadline);
    read_text(pmix.get(0, kKey, deadline), order);
    return join_through_agent(reach_agent(order, deadline), join, answer_deadline, {});
  }
  if (order.token.empty()) order.token = make_token();
  bool published = false;
  const auto publish = [&](const std::string& text) {
    published = true;
    pmix.put(kKey, text);
    pmix.fence(deadline);
  };
  try {
    return join_through_agent(reach_agent(order, deadline), join, answer_deadline,
                              [&](const Reachable& reachable) { publish(to_text(reachable, order.token)); });
  } catch (const Error& error) {
    // The others wait for a word.
    if (!published) publish(std::string(kFailed) + error.message());
    throw;
  }
}

}  // namespace

std::unique_ptr<comm::Rendezvous> join_gathering(const Assignment& assignment, const Options& options) {
  if (static_cast<std::uint32_t>(assignment.size) > wire::kMaxRanks)
    fail(Situation::ranks_impossible, "a job of {} ranks is not possible; 1 to {} are", assignment.size,
         wire::kMaxRanks);
  const Deadline deadline = Deadline::after(options.join_timeout);
  const Deadline answer_deadline = Deadline::after(options.join_timeout + kAnswerPatience);
  const Join join{.rank = static_cast<std::uint32_t>(assignment.rank),
                  .size = static_cast<std::uint32_t>(assignment.size)};
  GatheringOrder order{.job = assignment.rendezvous,
                       .token = token_in_environment(),
                       .roots = {},
                       .ports = {},
                       .interface = options.interface.value_or(""),
                       .patience_ns = options.join_timeout.count()};
  std::string why_no_pmix;
  if (!assignment.root_is_asked_for) {
    if (const auto pmix = Pmix::open(why_no_pmix)) {
      log::info("rank {} of {} meets the others through PMIx", join.rank, join.size);
      return join_by_pmix(*pmix, join, std::move(order), deadline, answer_deadline);
    }
  }
  if (assignment.root.empty()) {
    throw Error(Code::bad_launcher_environment,
                fmt::format("{} spread the job over several hosts, but does not tell which one has rank 0",
                            assignment.launcher),
                {why_no_pmix},
                "Set BATON_MEET to the name of that host, or install PMIx (Debian: libpmix2) if the launcher has it.");
  }
  if (order.token.empty()) {
    throw Error(
        Code::bad_launcher_environment,
        fmt::format("{} spread the job over several hosts, and BATON_JOB_TOKEN, by which they know each other, is "
                    "not set",
                    assignment.launcher),
        {}, kTokenRemedy);
  }
  const Root root = parse_root(assignment.root);
  order.roots = {root.host};
  order.ports = root.port ? std::vector<std::uint16_t>{*root.port} : ports_of(order.job);
  return join_through_agent(reach_agent(order, deadline), join, answer_deadline, {});
}

}  // namespace baton::job
