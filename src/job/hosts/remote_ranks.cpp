#include "job/hosts/remote_ranks.hpp"

#include <signal.h>

#include <algorithm>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "job/rank_messages.hpp"

namespace baton::job {
namespace {

// How long an agent has to end after it has nothing left to do.
constexpr std::chrono::seconds kEndPatience{5};

// Some questions, one after the other.
constexpr std::chrono::milliseconds kClockPatience{500};

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
      picture_(loop_, plan_.order.job, names_by_rank(plan_.order.hosts), [this] { look_.begin(); }),
      hosts_(plan_.order.hosts.size()),
      look_(look_surroundings()),
      ranks_(plan_.order.size) {
  plan_.order.traces = !plan_.trace.empty();
  if (plan_.order.traces) {
    std::vector<std::string> names;
    for (const HostShare& host : plan_.order.hosts) names.push_back(host.name);
    trace_.emplace(plan_.trace, names,
                   [this](std::uint32_t host, std::string_view frame) { send(hosts_[host], frame); });
  }
  // On one host, ranks see it themselves. A node does not wait as its chips do.
  if (hosts_.size() > 1 && plan_.order.node == 0) {
    stillness_.emplace(
        hosts_.size(), [this](std::uint64_t round) { pass_on(encode_stillness_question(round), nullptr); },
        [this] {
          tells_deadlock_ = true;
          look_.begin();
        });
  }
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

bool RemoteRanks::any() const noexcept {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [](const Host& host) { return host.state <= HostState::connected || host.live > 0; });
}

RemoteRanks::Rank& RemoteRanks::rank_of(Host& host, std::uint32_t rank) {
  if (rank >= ranks_.size() || ranks_[rank].host != &host) fail(Code::protocol, "rank {} is not there", rank);
  return ranks_[rank];
}

void RemoteRanks::on_host_frame(Host& host, FrameReader& frame) {
  switch (frame.kind()) {
    case FrameKind::started: on_started(host, frame); break;
    case FrameKind::stopped:
      if (plan_.on_process_sight) plan_.on_process_sight(decode_process_sight(frame));
      break;
    case FrameKind::meeting: on_meeting(host, frame); break;
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
      if (!rank.output) fail(Code::protocol, "rank {} writes before it has started", name.rank);
      (name.error ? rank.error : rank.output)->add(frame.get_rest());
      break;
    }
    case FrameKind::output_end: {
      const StreamName name = decode_stream(frame);
      Rank& rank = rank_of(host, name.rank);
      frame.expect_end();
      if (rank.output) (name.error ? rank.error : rank.output)->end();
      break;
    }
    case FrameKind::input_room: {
      const auto bytes = frame.get<std::uint64_t>();
      if (input_ && &host == &hosts_.front()) input_->add_room(bytes);
      break;
    }
    case FrameKind::look: look_.ask_from(host.index); break;
    case FrameKind::seen: on_seen(host, frame); break;
    case FrameKind::looked:
      frame.expect_end();
      look_.on_looked(host.index);
      break;
    case FrameKind::finished:
      host.state = HostState::finished;
      for (int i = 0; i < host.share.count; ++i)
        ranks_[static_cast<std::size_t>(host.share.first_rank) + static_cast<std::size_t>(i)].ended = true;
      host.live = 0;
      if (stillness_) stillness_->forget(host.index);
      break;
    case FrameKind::stillness:
      if (stillness_) stillness_->on_report(host.index, decode_stillness(frame));
      break;
    case FrameKind::clock:
      if (trace_) trace_->on_clock(host.index, decode_clock_answer(frame));
      break;
    case FrameKind::trace:
      if (trace_) trace_->on_part(host.index, decode_trace_part(frame));
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

void RemoteRanks::on_meeting(Host& host, FrameReader& frame) {
  if (!has_node(host) || !plan_.on_meeting) fail(Code::protocol, "no rank of host {} is the node", host.index);
  rank_of(host, static_cast<std::uint32_t>(host.share.first_rank)).started = true;
  plan_.on_meeting(decode_meeting(frame));
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
  if (trace_) trace_->forget(host.index);
  if (stillness_) stillness_->forget(host.index);
  look_.on_gone();
  for (int i = 0; i < host.share.count; ++i) {
    const int number = host.share.first_rank + i;
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (rank.output) {
      rank.output->end();
      rank.error->end();
    }
    if (!rank.started || rank.ended) continue;
    rank.ended = true;
    RankEnding ending;
    ending.rank = number;
    ending.when = Deadline::Clock::now();
    ending.lost = reason;
    ending.last_seen = look(number);
    events_.on_rank_ended(ending);
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
  for (const Host& host : hosts_) {
    if (trace_ && host.state == HostState::running) trace_->look_at_clock(host.index);
  }
  look_.look_at_clock();
  if (stillness_ && ordered_ && any()) stillness_->on_tick();
  const bool late = std::any_of(hosts_.begin(), hosts_.end(), [](const Host& host) {
    return host.state == HostState::starting && host.deadline.passed();
  });
  if (late && !gave_up_) give_up_on_missing();
}

void RemoteRanks::pass_on(std::string_view frame, const Host* but) {
  for (Host& host : hosts_) {
    if (&host != but) send(host, frame);
  }
}

void RemoteRanks::tell_end(const comm::RankEnd& end, const Host* but) {
  std::uint32_t& ended = ranks_[end.rank].ended_membership;
  if (ended >= end.membership) return;
  ended = end.membership;
  picture_.note_end(end);
  pass_on(encode(end), but);
}

void RemoteRanks::send(Host& host, std::string_view frame) {
  if (host.connection != nullptr) host.connection->link->send(frame);
}

void RemoteRanks::signal(int number) {
  if (!ordered_ && asks_to_end(number)) abandon();
  pass_on(FrameWriter(FrameKind::signal).put(number).finish(), nullptr);
}

void RemoteRanks::signal_rank(int rank, int number) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= ranks_.size()) return;
  send(*ranks_[static_cast<std::size_t>(rank)].host,
       FrameWriter(FrameKind::signal_rank).put(std::int32_t{rank}).put(std::int32_t{number}).finish());
}

void RemoteRanks::ask_whether_stopped(int rank) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= ranks_.size()) return;
  send(*ranks_[static_cast<std::size_t>(rank)].host, FrameWriter(FrameKind::stopped).put(std::int32_t{rank}).finish());
}

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
  // An agent gives up after kKillPatience itself. What is left of a trace may take long; it comes in parts.
  const auto soon = [] { return Deadline::after(kKillPatience + kEndPatience); };
  Deadline deadline = soon();
  for (std::uint64_t parts = 0; any_finishing() && !deadline.passed();) {
    loop_.wait(deadline);
    if (trace_ && std::exchange(parts, trace_->parts()) != trace_->parts()) deadline = soon();
  }
  for (Host& host : hosts_) {
    if (host.state == HostState::finishing) lose(host, "did not end what the job had started");
  }
  if (trace_) compare_clocks_at_end();
}

void RemoteRanks::compare_clocks_at_end() {
  for (const Host& host : hosts_) {
    if (host.state == HostState::finished) trace_->compare_clocks(host.index);
  }
  const auto is_comparing = [this](const Host& host) { return trace_->is_comparing(host.index); };
  const Deadline deadline = Deadline::after(kClockPatience);
  while (std::any_of(hosts_.begin(), hosts_.end(), is_comparing) && !deadline.passed()) loop_.wait(deadline);
}

bool RemoteRanks::output_comes() const noexcept {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.output && (rank.output->open() || rank.error->open()); });
}

}  // namespace baton::job
