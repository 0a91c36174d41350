#include "job/hosts/agent_run.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "comm/stillness.hpp"
#include "job/hosts/interfaces.hpp"
#include "job/hosts/rank_sight.hpp"
#include "job/hosts/trace_messages.hpp"
#include "job/launch/launcher.hpp"
#include "job/launch/program_path.hpp"

namespace baton::job {
namespace {

/// What a frame says that somebody else reads, too.
comm::RankEnd end_in(FrameReader frame) { return decode_rank_end(frame); }

}  // namespace

AgentRun::AgentRun(SignalGuard& signals, std::unique_ptr<Channel> channel, std::string address)
    : signals_(signals),
      address_(std::move(address)),
      launcher_(
          loop_, std::move(channel), [this](FrameReader& frame) { on_frame(frame); },
          [this](const std::string& why) {
            lost_ = true;
            why_lost_ = "the launcher " + why;
          }),
      heartbeat_(loop_, [this] { on_heartbeat(); }) {
  loop_.add(signals_.fd(), EPOLLIN, [this] { on_signals(); });
}

int AgentRun::run(const Hello& hello) {
  launcher_.send(encode(hello));
  heartbeat_.set(kHeartbeat, Timer::Mode::again_and_again);
  while (!lost_ && !over_) {
    loop_.wait(Deadline::never());
    if (trace_) trace_->send_some(launcher_);
  }
  if (over_) finish();
  // The launcher closes the connection when it has everything.
  while (!lost_) loop_.wait(Deadline::never());
  if (over_) return 0;
  end_everything();
  fmt::print(stderr, "baton agent: {}; the ranks on this host were ended\n", why_lost_);
  return 1;
}

void AgentRun::end_everything() {
  if (!ranks_) return;
  ranks_->signal(SIGKILL);
  const Deadline deadline = Deadline::after(kKillPatience);
  while (ranks_->any() && !deadline.passed()) loop_.wait(deadline);
  ranks_->end_descendants();
}

void AgentRun::finish() {
  end_everything();
  if (trace_) {
    trace_->look();
    while (!lost_ && !trace_->send_some(launcher_)) loop_.wait(Deadline::never());
  }
  launcher_.send(FrameWriter(FrameKind::finished).finish());
  for (auto& [rank, streams] : streams_) {
    streams.output->drain();
    streams.error->drain();
  }
}

void AgentRun::on_frame(FrameReader& frame) {
  switch (frame.kind()) {
    case FrameKind::heartbeat: break;
    case FrameKind::stillness: answer_stillness(frame.get<std::uint64_t>()); break;
    case FrameKind::clock: {
      const ClockQuestion question = decode_clock_question(frame);
      launcher_.send(encode(ClockAnswer{question.sent_ns, read_clocks()}));
      break;
    }
    case FrameKind::refused:
      lost_ = true;
      why_lost_ = "the launcher refused it: " + frame.get_text();
      break;
    case FrameKind::job: on_job(decode_job(frame)); break;
    case FrameKind::signal: {
      const auto number = frame.get<std::int32_t>();
      if (ranks_) ranks_->signal(number);
      break;
    }
    case FrameKind::signal_rank: {
      const auto rank = frame.get<std::int32_t>();
      const auto number = frame.get<std::int32_t>();
      if (ranks_) ranks_->signal_rank(rank, number);
      break;
    }
    case FrameKind::stopped: {
      const auto rank = frame.get<std::int32_t>();
      const bool is_stopped = ranks_ && ranks_->is_stopped(rank);
      launcher_.send(encode(ProcessSight{.rank = rank, .is_stopped = is_stopped}));
      break;
    }
    case FrameKind::room: on_room(frame); break;
    case FrameKind::input:
      if (input_) input_->add(frame.get_rest());
      break;
    case FrameKind::input_end:
      if (input_) input_->end();
      break;
    case FrameKind::look: on_look(); break;
    case FrameKind::seen:
      if (picture_) picture_->draw(frame);
      break;
    case FrameKind::looked:
      while (picture_ && !frame.at_end()) picture_->note_silence(frame.get<std::uint32_t>());
      if (picture_) picture_->answer();
      break;
    case FrameKind::finish: over_ = true; break;
    case FrameKind::rank_end:
      if (picture_) picture_->note_end(end_in(frame));
      [[fallthrough]];
    case FrameKind::record:
      if (desk_) desk_->pass_on(frame);
      break;
    default: fail(Code::protocol, "a frame of kind {} came", static_cast<std::uint32_t>(frame.kind()));
  }
}

void AgentRun::on_job(JobOrder order) {
  if (desk_) fail(Code::protocol, "a second job came");
  const HostShare& share = order.hosts[order.host];
  first_rank_ = share.first_rank;
  count_ = share.count;
  const bool has_node = order.node != 0 && order.host + 1 == order.hosts.size();
  Welcome welcome{.job = order.job, .hosts = {}, .host_of = {}, .address = has_node ? order.node_address : address_};
  for (std::uint32_t host = 0; host < order.hosts.size(); ++host) {
    welcome.hosts.push_back(order.hosts[host].name);
    welcome.host_of.insert(welcome.host_of.end(), static_cast<std::size_t>(order.hosts[host].count), host);
  }
  try {
    desk_.emplace(loop_, std::move(welcome),
                  RankDesk::Ranks{static_cast<std::uint32_t>(first_rank_), static_cast<std::uint32_t>(count_)},
                  [this](std::string_view frame) { launcher_.send(frame); });
    picture_.emplace(loop_, order.job, names_by_rank(order.hosts),
                     [this] { launcher_.send(FrameWriter(FrameKind::look).finish()); });
    if (has_node) return meet_node(order);
    start_ranks(std::move(order));
  } catch (const Error& error) {
    on_start_failure(error);
  }
}

void AgentRun::meet_node(const JobOrder& order) {
  node_.emplace(order.size, order.node);
  loop_.add(node_->fd(), EPOLLIN, [this] { node_->receive(); });
  launcher_.send(encode(Meeting{.agent = desk_->address(), .watch = node_->address()}));
}

void AgentRun::start_ranks(JobOrder order) {
  if (::chdir(order.folder.c_str()) != 0) {
    fail(Situation::no_such_folder, "the ranks cannot start in {}: {}", quote(order.folder), ::strerrordesc_np(errno));
  }
  const std::string program = find_program(order.command.front(), search_path(order.environment));
  LocalRanksPlan plan{.job = fmt::format("{}.{}", order.job, order.host),
                      .program = program,
                      .command = std::move(order.command),
                      .environment = std::move(order.environment),
                      .variables = {},
                      .first_rank = first_rank_,
                      .count = count_,
                      .size = static_cast<int>(order.size),
                      .bind = order.bind};
  if (order.traces) {
    trace_.emplace();
    plan.variables.push_back("BATON_TRACE=" + trace_->path());
  }
  // On one host, ranks meet as they do without an agent, and see themselves whether they all wait.
  is_one_of_several_ = order.hosts.size() > 1;
  if (order.hosts.size() > 1) {
    plan.variables.push_back(fmt::format("BATON_HOST_COUNT={}", order.hosts.size()));
    plan.variables.push_back("BATON_AGENT=" + desk_->address());
  }
  RankOutput& output = *this;
  RankEvents& events = *this;
  ranks_ = std::make_unique<LocalRanks>(std::move(plan), signals_, loop_, output, events);
  input_ = std::make_unique<PipeFeeder>(loop_, [this](std::size_t bytes) {
    launcher_.send(FrameWriter(FrameKind::input_room).put(std::uint64_t{bytes}).finish());
  });
  const UniqueFd input = input_->take_reader();
  ranks_->start(input.get());
}

std::optional<comm::ControlView> AgentRun::control() const {
  if (node_) return node_->view();
  return ranks_ ? ranks_->control() : std::nullopt;
}

void AgentRun::on_rank_started(int rank, pid_t pid, const std::string&) {
  streams_[rank].pid = pid;
  launcher_.send(FrameWriter(FrameKind::started)
                     .put(static_cast<std::uint32_t>(rank))
                     .put(static_cast<std::int32_t>(pid))
                     .finish());
}

void AgentRun::on_rank_ended(const RankEnding& ending) {
  // The other ranks first: they wait.
  desk_->process_ended(static_cast<std::uint32_t>(ending.rank), streams_[ending.rank].pid, ending.status);
  launcher_.send(encode(ending));
}

void AgentRun::on_start_failure(const Error& error) {
  launcher_.send(encode_not_started(error));
  over_ = true;
}

void AgentRun::add(int rank, UniqueFd output, UniqueFd error) {
  const auto sender = [&](UniqueFd from, bool is_error) {
    const StreamName name{static_cast<std::uint32_t>(rank), is_error};
    return std::make_unique<StreamSender>(
        loop_, std::move(from), [this, name](std::string_view bytes) { launcher_.send(encode_output(name, bytes)); },
        [this, name] { launcher_.send(encode_output_end(name)); });
  };
  streams_[rank].output = sender(std::move(output), false);
  streams_[rank].error = sender(std::move(error), true);
}

void AgentRun::on_room(FrameReader& frame) {
  const StreamName name = decode_stream(frame);
  const auto bytes = frame.get<std::uint64_t>();
  const auto found = streams_.find(static_cast<int>(name.rank));
  if (found == streams_.end()) fail(Code::protocol, "rank {} is not here", name.rank);
  const auto& sender = name.error ? found->second.error : found->second.output;
  if (sender) sender->add_room(bytes);
}

void AgentRun::on_heartbeat() {
  launcher_.send(FrameWriter(FrameKind::heartbeat).finish());
  if (trace_) trace_->look();
  if (is_one_of_several_) watch_stillness();
}

void AgentRun::watch_stillness() {
  const auto seen = control();
  if (!seen) return;
  const comm::HostRanksSight ranks(*seen->header, static_cast<std::uint32_t>(first_rank_),
                                   static_cast<std::uint32_t>(count_));
  comm::HostStillness now = ranks.waits().value_or(comm::HostStillness{});
  // Waits that are as they were at the last heartbeat are worth a closer look, for which the launcher asks.
  const bool same = now.found == comm::Found::still && now == std::exchange(seen_, now);
  now = same ? now : comm::HostStillness{};
  if (same) now.found = comm::Found::uneasy;
  if (told_stillness_ == now) return;
  told_stillness_ = now;
  launcher_.send(encode(StillnessReport{.round = 0, .host = now}));
}

void AgentRun::answer_stillness(std::uint64_t round) {
  comm::HostStillness host;
  if (const auto seen = control()) {
    const comm::HostRanksSight ranks(*seen->header, static_cast<std::uint32_t>(first_rank_),
                                     static_cast<std::uint32_t>(count_));
    const auto look = comm::look_for_stillness(ranks);
    if (look.found == comm::Found::still) host = look.waits;
    host.found = look.found;
  }
  // It says so again when they wait.
  if (host.found == comm::Found::lively) told_stillness_.reset();
  launcher_.send(encode(StillnessReport{.round = round, .host = host}));
}

void AgentRun::on_look() {
  const auto seen = control();
  for (int rank = first_rank_; seen && rank < first_rank_ + count_; ++rank) {
    launcher_.send(encode_sight(*seen, static_cast<std::uint32_t>(rank), scale_));
  }
  launcher_.send(FrameWriter(FrameKind::looked).finish());
}

void AgentRun::on_signals() {
  while (const auto number = signals_.next()) {
    switch (*number) {
      case SIGCHLD:
        if (ranks_) ranks_->on_child_end();
        break;
      case SIGINT:
      case SIGTERM:
      case SIGHUP:
      case SIGQUIT:
        lost_ = true;
        why_lost_ = fmt::format("it was told to end by SIG{}", ::sigabbrev_np(*number));
        break;
      default: break;
    }
  }
}

}  // namespace baton::job
