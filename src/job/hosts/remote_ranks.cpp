#include "job/hosts/remote_ranks.hpp"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/quote.hpp"
#include "job/rank_messages.hpp"

namespace baton::job {
namespace {

// How long an agent has to end after it has nothing left to do.
constexpr std::chrono::seconds kEndPatience{5};

bool asks_to_end(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace

RemoteRanks::RemoteRanks(HostsPlan plan, const JobRun::Surroundings& around)
    : plan_(std::move(plan)),
      loop_(around.loop),
      output_(around.output),
      events_(around.events),
      token_(make_job_token()),
      desk_(loop_, token_, {.interface = plan_.interface, .expected = plan_.order.hosts.size()},
            [this](std::unique_ptr<Channel> channel) { admit(std::move(channel)); }),
      tick_(loop_, [this] { on_tick(); }),
      hosts_(plan_.order.hosts.size()),
      ranks_(plan_.order.size) {
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    Host& host = hosts_[i];
    host.share = plan_.order.hosts[i];
    host.index = static_cast<std::uint32_t>(i);
    for (int rank = 0; rank < host.share.count; ++rank) {
      ranks_[static_cast<std::size_t>(host.share.first_rank) + static_cast<std::size_t>(rank)].host = &host;
    }
  }
}

RemoteRanks::~RemoteRanks() {
  const Deadline deadline = Deadline::after(kEndPatience);
  for (Connection& connection : connections_) connection.link->close();
  for (Host& host : hosts_) {
    if (host.process) host.process->wait_for_end(deadline);
  }
}

void RemoteRanks::start(int input_fd) {
  input_source_.reset(::fcntl(input_fd, F_DUPFD_CLOEXEC, 3));
  start_deadline_ = Deadline::after(plan_.patience);
  tick_.set(kHeartbeat, Timer::Mode::again_and_again);
  for (Host& host : hosts_) {
    // One line; what follows travels over the connection.
    const std::string input = fmt::format("baton-agent {} {} {} {} {}\n", kAgentProtocol, to_hex(token_), host.index,
                                          desk_.port(), fmt::join(desk_.addresses(), ","));
    host.process = std::make_unique<AgentProcess>(
        loop_, AgentCommand{host.share.name, plan_.launch_agent, plan_.remote_baton}, input);
  }
}

bool RemoteRanks::any() const noexcept {
  return std::any_of(hosts_.begin(), hosts_.end(), [](const Host& host) {
    return host.state == HostState::starting || host.state == HostState::connected || host.live > 0;
  });
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
  log::info("host {} is there", quote(host.share.name));
  const bool all =
      std::all_of(hosts_.begin(), hosts_.end(), [](const Host& one) { return one.state == HostState::connected; });
  if (all) order_all();
}

void RemoteRanks::order_all() {
  ordered_ = true;
  for (Host& host : hosts_) {
    JobOrder order = plan_.order;
    order.host = host.index;
    host.state = HostState::running;
    host.live = host.share.count;
    send(host, encode(order));
  }
  Host& first = hosts_.front();
  input_ = std::make_unique<StreamSender>(
      loop_, std::move(input_source_),
      [this, &first](std::string_view bytes) { send(first, FrameWriter(FrameKind::input).put_rest(bytes).finish()); },
      [this, &first] { send(first, FrameWriter(FrameKind::input_end).finish()); });
}

RemoteRanks::Rank& RemoteRanks::rank_of(Host& host, std::uint32_t rank) {
  if (rank >= ranks_.size() || ranks_[rank].host != &host) fail(Code::protocol, "rank {} is not there", rank);
  return ranks_[rank];
}

void RemoteRanks::on_host_frame(Host& host, FrameReader& frame) {
  switch (frame.kind()) {
    case FrameKind::started: on_started(host, frame); break;
    case FrameKind::ended: on_ended(host, decode_ended(frame)); break;
    case FrameKind::not_started: {
      const Error error = decode_not_started(frame);
      events_.on_start_failure(Error(error.code(), fmt::format("host {}: {}", quote(host.share.name), error.message()),
                                     error.notes(), error.remedy()));
      break;
    }
    case FrameKind::output: {
      const StreamName name = decode_stream(frame);
      Rank& rank = rank_of(host, name.rank);
      if (!rank.started) fail(Code::protocol, "rank {} writes before it has started", name.rank);
      (name.error ? rank.error : rank.output)->add(frame.get_rest());
      break;
    }
    case FrameKind::output_end: {
      const StreamName name = decode_stream(frame);
      Rank& rank = rank_of(host, name.rank);
      frame.expect_end();
      if (rank.started) (name.error ? rank.error : rank.output)->end();
      break;
    }
    case FrameKind::input_room: {
      const auto bytes = frame.get<std::uint64_t>();
      if (input_ && &host == &hosts_.front()) input_->add_room(bytes);
      break;
    }
    case FrameKind::looked:
      for (const RankSnapshot& seen : decode_looked(frame)) rank_of(host, seen.rank).seen = seen;
      host.looked = true;
      break;
    case FrameKind::finished:
      host.state = HostState::finished;
      for (int i = 0; i < host.share.count; ++i)
        ranks_[static_cast<std::size_t>(host.share.first_rank) + static_cast<std::size_t>(i)].ended = true;
      host.live = 0;
      break;
    case FrameKind::record: {
      const RecordPart part = decode_record(frame);
      static_cast<void>(rank_of(host, part.rank));
      pass_on(encode(part), nullptr);
      break;
    }
    case FrameKind::rank_end: {
      const comm::RankEnd end = decode_rank_end(frame);
      static_cast<void>(rank_of(host, end.rank));
      tell_end(end, &host);
      break;
    }
    default: fail(Code::protocol, "a frame of kind {} came", static_cast<std::uint32_t>(frame.kind()));
  }
}

void RemoteRanks::on_started(Host& host, FrameReader& frame) {
  const auto number = frame.get<std::uint32_t>();
  const auto pid = frame.get<std::int32_t>();
  frame.expect_end();
  Rank& rank = rank_of(host, number);
  if (rank.started) fail(Code::protocol, "rank {} started twice", number);
  rank.started = true;
  const auto feeder = [&](bool error) {
    return std::make_unique<PipeFeeder>(loop_, [this, &host, number, error](std::size_t bytes) {
      send(host, encode_room({number, error}, bytes));
    });
  };
  rank.output = feeder(false);
  rank.error = feeder(true);
  events_.on_rank_started(static_cast<int>(number), pid, host.share.name);
  output_.add(static_cast<int>(number), rank.output->take_reader(), rank.error->take_reader());
}

void RemoteRanks::on_ended(Host& host, const RankEnding& ending) {
  Rank& rank = rank_of(host, static_cast<std::uint32_t>(ending.rank));
  if (!rank.started || rank.ended) fail(Code::protocol, "rank {} ends, but it did not run", ending.rank);
  rank.ended = true;
  --host.live;
  events_.on_rank_ended(ending);
}

void RemoteRanks::on_closed(Connection& connection, const std::string& why) {
  if (connection.host == nullptr) {
    desk_.refuse(-1, "hello", "it " + why);
    return;
  }
  lose(*connection.host, why);
}

void RemoteRanks::lose(Host& host, const std::string& why) {
  const HostState before = host.state;
  host.state = HostState::gone;
  if (host.connection != nullptr) host.connection->link->close();
  const std::string reason = fmt::format("host {} {}", host.share.name, why);
  if (before == HostState::connected) {
    give_up(error_in(Situation::host_lost, reason + " before the job began",
                     host.process ? host.process->last_lines() : std::vector<std::string>()));
    return;
  }
  // The other ranks first: they wait.
  for (int i = 0; i < host.share.count && before != HostState::finished; ++i) {
    const auto number = static_cast<std::uint32_t>(host.share.first_rank + i);
    tell_end(
        {.rank = number, .state = wire::RankState::dead, .kind = wire::EndKind::unknown, .value = 0, .reason = reason},
        &host);
  }
  host.live = 0;
  for (int i = 0; i < host.share.count; ++i) {
    const int number = host.share.first_rank + i;
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (rank.started) {
      rank.output->end();
      rank.error->end();
    }
    if (!rank.started || rank.ended) continue;
    rank.ended = true;
    RankEnding ending;
    ending.rank = number;
    ending.when = Deadline::Clock::now();
    ending.lost = reason;
    ending.last_seen = rank.seen;
    events_.on_rank_ended(ending);
  }
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

void RemoteRanks::pass_on(std::string_view frame, const Host* but) {
  for (Host& host : hosts_) {
    if (&host != but) send(host, frame);
  }
}

void RemoteRanks::tell_end(const comm::RankEnd& end, const Host* but) {
  if (std::exchange(ranks_[end.rank].end_is_known, true)) return;
  pass_on(encode(end), but);
}

void RemoteRanks::send(Host& host, std::string_view frame) {
  if (host.connection != nullptr) host.connection->link->send(frame);
}

void RemoteRanks::signal(int number) {
  if (!ordered_ && asks_to_end(number)) abandon();
  pass_on(FrameWriter(FrameKind::signal).put(number).finish(), nullptr);
}

void RemoteRanks::on_child_end() {
  for (Host& host : hosts_) {
    const auto status = host.process ? host.process->status() : std::nullopt;
    // One that ended well may have left the agent to somebody else.
    if (host.state == HostState::starting && status && *status != 0) give_up(host.process->failure());
  }
}

void RemoteRanks::on_tick() {
  desk_.look_at_clock();
  for (Connection& connection : connections_) {
    if (!connection.deadline.passed() || !connection.link->open()) continue;
    desk_.refuse(connection.fd, "silence", "it did not say which host it is");
    connection.link->close();
  }
  std::erase_if(connections_, [](const Connection& one) { return one.host == nullptr && !one.link->open(); });
  pass_on(FrameWriter(FrameKind::heartbeat).finish(), nullptr);
  if (ordered_ || gave_up_ || !start_deadline_.passed()) return;
  std::vector<std::string> missing;
  std::vector<std::string> notes;
  for (const Host& host : hosts_) {
    if (host.state != HostState::starting) continue;
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

void RemoteRanks::refresh(const Deadline& deadline) {
  for (Host& host : hosts_) {
    host.looked = host.state != HostState::running;
    if (!host.looked) send(host, FrameWriter(FrameKind::look).finish());
  }
  const auto all_looked = [this] {
    return std::all_of(hosts_.begin(), hosts_.end(),
                       [](const Host& host) { return host.looked || host.state != HostState::running; });
  };
  while (!all_looked() && !deadline.passed()) loop_.wait(deadline);
}

std::optional<RankSnapshot> RemoteRanks::look(int rank) { return ranks_[static_cast<std::size_t>(rank)].seen; }

void RemoteRanks::end_descendants() {
  for (Host& host : hosts_) {
    if (host.state != HostState::running) continue;
    host.state = HostState::finishing;
    send(host, FrameWriter(FrameKind::finish).finish());
  }
  const auto any_finishing = [this] {
    return std::any_of(hosts_.begin(), hosts_.end(),
                       [](const Host& host) { return host.state == HostState::finishing; });
  };
  // An agent gives up after kKillPatience itself.
  const Deadline deadline = Deadline::after(kKillPatience + kEndPatience);
  while (any_finishing() && !deadline.passed()) loop_.wait(deadline);
  for (Host& host : hosts_) {
    if (host.state == HostState::finishing) lose(host, "did not end what the job had started");
  }
}

bool RemoteRanks::output_comes() const noexcept {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.started && (rank.output->open() || rank.error->open()); });
}

}  // namespace baton::job
