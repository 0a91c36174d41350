// How the agents of a job come, and what happens if they do not.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/processors.hpp"
#include "base/quote.hpp"
#include "job/hosts/remote_ranks.hpp"

namespace baton::job {
namespace {

// A client of ssh computes for about a seventh of the time that it takes to start an agent, and waits for the other
// host for the rest: as many at a time keep a processor busy, and more would only wait for each other.
constexpr std::ptrdiff_t kStartsPerProcessor = 8;

}  // namespace

std::vector<std::string> environment_for_other_hosts(std::vector<std::string> environment) {
  constexpr std::array kNames = {"HOSTNAME=", "SSH_", "DISPLAY=", "XAUTHORITY=", "XDG_RUNTIME_DIR=", "DBUS_"};
  std::erase_if(environment, [&](const std::string& entry) {
    return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return entry.starts_with(name); });
  });
  return environment;
}

void RemoteRanks::start(int input_fd) {
  input_source_.reset(::fcntl(input_fd, F_DUPFD_CLOEXEC, 3));
  tick_.set(kHeartbeat, Timer::Mode::again_and_again);
  start_agents();
}

void RemoteRanks::start_agents() {
  auto starting =
      std::count_if(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.state == HostState::starting; });
  const std::ptrdiff_t most = kStartsPerProcessor * usable_processors();
  for (Host& host : hosts_) {
    if (host.state != HostState::waiting) continue;
    if (starting++ == most) break;
    start_agent(host);
  }
}

void RemoteRanks::start_agent(Host& host) {
  host.state = HostState::starting;
  host.deadline = Deadline::after(plan_.patience);
  // One line; what follows travels over the connection.
  const std::string input = fmt::format("baton-agent {} {} {} {} {}\n", kAgentProtocol, to_hex(token_), host.index,
                                        desk_.port(), fmt::join(desk_.addresses(), ","));
  host.process = std::make_unique<AgentProcess>(
      loop_,
      has_node(host) ? AgentCommand{"", "env", std::filesystem::read_symlink("/proc/self/exe").string()}
                     // no other host is asked
                     : AgentCommand{host.share.name, plan_.launch_agent, plan_.remote_baton},
      input);
}

void RemoteRanks::admit(std::unique_ptr<Channel> channel) {
  Connection& connection = connections_.emplace_back();
  connection.deadline = Deadline::after(JoinDesk::kPatience);
  connection.fd = channel->fd();
  connection.link = std::make_unique<Link>(
      loop_, std::move(channel), [this, &connection](FrameReader& frame) { on_frame(connection, frame); },
      [this, &connection](const std::string& why) { on_closed(connection, why); });
}

void RemoteRanks::on_frame(Connection& connection, FrameReader& frame) {
  if (frame.kind() == FrameKind::heartbeat) return;
  if (connection.host != nullptr) {
    on_host_frame(*connection.host, frame);
  } else if (frame.kind() == FrameKind::hello) {
    on_hello(connection, frame);
  } else {
    fail(Code::protocol, "the first frame is not a hello, but of kind {}", static_cast<std::uint32_t>(frame.kind()));
  }
}

void RemoteRanks::on_hello(Connection& connection, FrameReader& frame) {
  const Hello hello = decode_hello(frame);
  const auto refuse = [&](const std::string& why) {
    desk_.refuse(connection.fd, "hello", why);
    connection.link->send(FrameWriter(FrameKind::refused).put_text(why).finish());
    connection.link->close();
  };
  const bool known = hello.protocol == kAgentProtocol && hello.host < hosts_.size();
  const std::string who = known ? "host " + quote(hosts_[hello.host].share.name) : peer_address(connection.fd);
  if (hello.protocol != kAgentProtocol || hello.version != plan_.version) {
    const std::string why = fmt::format("{} has Baton {}, this host has {}", who, hello.version, plan_.version);
    refuse(why);
    if (!ordered_) give_up(error_in(Situation::other_version, why));
    return;
  }
  if (!known || hosts_[hello.host].state != HostState::starting || gave_up_) {
    refuse(fmt::format("it says that it is host {}, which {}", hello.host, known ? "is here already" : "is not there"));
    return;
  }
  Host& host = hosts_[hello.host];
  connection.host = &host;
  connection.deadline = Deadline::never();
  host.connection = &connection;
  host.state = HostState::connected;
  if (plan_.order.node_address.empty() && !has_node(host)) plan_.order.node_address = own_address(connection.fd);
  log::info("host {} is there", quote(host.share.name));
  const bool all =
      std::all_of(hosts_.begin(), hosts_.end(), [](const Host& one) { return one.state == HostState::connected; });
  if (all) {
    order_all();
  } else {
    start_agents();
  }
}

void RemoteRanks::order_all() {
  ordered_ = true;
  for (Host& host : hosts_) {
    JobOrder order = plan_.order;
    order.host = host.index;
    host.state = HostState::running;
    host.live = has_node(host) ? 0 : host.share.count;
    // Before anything goes on there.
    if (trace_) trace_->compare_clocks(host.index);
    send(host, encode(order));
  }
  Host& first = hosts_.front();
  input_ = std::make_unique<StreamSender>(
      loop_, std::move(input_source_),
      [this, &first](std::string_view bytes) { send(first, FrameWriter(FrameKind::input).put_rest(bytes).finish()); },
      [this, &first] { send(first, FrameWriter(FrameKind::input_end).finish()); });
}

void RemoteRanks::abandon() {
  gave_up_ = true;
  for (Host& host : hosts_) {
    if (host.state == HostState::starting) host.process.reset();
    host.state = HostState::gone;
    if (host.connection != nullptr) host.connection->link->close();
  }
}

void RemoteRanks::give_up(const Error& error) {
  if (gave_up_) return;
  abandon();
  events_.on_start_failure(error);
}

void RemoteRanks::on_child_end() {
  for (Host& host : hosts_) {
    const auto status = host.process ? host.process->status() : std::nullopt;
    // One that ended well may have left the agent to somebody else.
    if (host.state == HostState::starting && status && *status != 0) give_up(host.process->failure());
  }
}

void RemoteRanks::give_up_on_missing() {
  std::vector<std::string> missing;
  std::vector<std::string> notes;
  for (const Host& host : hosts_) {
    // Those that were started together are late together.
    if (host.state != HostState::starting || host.deadline.left() > kHeartbeat) continue;
    missing.push_back(host.share.name);
    for (const std::string& line : host.process->last_lines())
      notes.push_back(fmt::format("{}: {}", host.share.name, line));
  }
  notes.push_back(
      fmt::format("agents are to connect to port {} of {}", desk_.port(), fmt::join(desk_.addresses(), ", ")));
  give_up(error_in(
      Situation::agent_silent,
      fmt::format("no agent came from host{} {} within {} s", missing.size() == 1 ? "" : "s", fmt::join(missing, ", "),
                  std::chrono::duration_cast<std::chrono::seconds>(plan_.patience).count()),
      std::move(notes)));
}

}  // namespace baton::job
