#include "job/hosts/node_launcher.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "job/hosts/interfaces.hpp"
#include "job/launch/local_ranks.hpp"

namespace baton::job {

NodeLauncher::NodeLauncher(UniqueFd node, std::string version)
    : version_(std::move(version)),
      node_(
          loop_, std::make_unique<PlainChannel>(std::move(node)), [this](FrameReader& frame) { on_frame(frame); },
          [this](const std::string&) { over_ = true; }) {
  loop_.add(signals_.fd(), EPOLLIN, [this] { on_signals(); });
}

void NodeLauncher::run() {
  while (!over_) {
    loop_.wait(output_ ? output_->deadline() : Deadline::never());
    if (output_) output_->flush();
  }
  end_chips();
}

void NodeLauncher::on_frame(FrameReader& frame) {
  switch (frame.kind()) {
    case FrameKind::job: try { order(decode_node_order(frame));
      } catch (const Error& error) {
        on_start_failure(error);
      }
      break;
    case FrameKind::signal_rank: {
      const auto rank = frame.get<std::int32_t>();
      const auto number = frame.get<std::int32_t>();
      if (chips_) chips_->signal_rank(rank, number);
      break;
    }
    case FrameKind::stopped: {
      const auto rank = frame.get<std::int32_t>();
      if (chips_) chips_->ask_whether_stopped(rank);
      break;
    }
    case FrameKind::finish: over_ = true; break;
    default: fail(Code::protocol, "a frame of kind {} came", static_cast<std::uint32_t>(frame.kind()));
  }
}

void NodeLauncher::order(NodeOrder order) {
  if (chips_) fail(Code::protocol, "a second order came");
  if (const auto missing = tls_missing())
    fail(Code::unsupported, "chips on other hosts are not possible: {}", *missing);
  HostsPlan plan;
  const HostShare& last = order.hosts.back();
  const int chips = last.first_rank + last.count;
  plan.order.job = job_name("node");
  plan.order.folder = std::move(order.folder);
  plan.order.command = {order.program};
  plan.order.environment = environment_for_other_hosts(std::move(order.environment));
  plan.order.size = static_cast<std::uint32_t>(chips) + 1;
  plan.order.hosts = std::move(order.hosts);
  plan.order.hosts.push_back({own_host_name(), chips, 1});
  plan.order.node = ::getppid();
  if (!order.launch_agent.empty()) plan.launch_agent = std::move(order.launch_agent);
  plan.remote_baton = order.remote_baton.empty() ? std::filesystem::read_symlink("/proc/self/exe").string()
                                                 : std::move(order.remote_baton);
  plan.interface = std::move(order.interface);
  plan.trace = std::move(order.trace);
  plan.version = version_;
  plan.patience = std::chrono::nanoseconds(order.patience_ns);
  plan.on_meeting = [this](const Meeting& meeting) { node_.send(encode(meeting)); };
  plan.on_process_sight = [this](const ProcessSight& sight) { node_.send(encode(sight)); };
  output_.emplace(
      loop_, OutputMerger::Settings{
                 .form = OutputForm::lines, .ranks = chips, .output_fd = STDOUT_FILENO, .error_fd = STDERR_FILENO});
  RankOutput& output = *output_;
  RankEvents& events = *this;
  chips_ = std::make_unique<RemoteRanks>(std::move(plan), JobRun::Surroundings{signals_, loop_, output, events});
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  chips_->start(nothing.get());
}

void NodeLauncher::on_rank_started(int rank, pid_t pid, const std::string&) {
  node_.send(encode(ChipStart{.chip = rank, .pid = pid}));
}

void NodeLauncher::on_rank_ended(const RankEnding& ending) {
  node_.send(encode(
      ChipEnd{.chip = ending.rank, .how = ending.lost.empty() ? describe_wait_status(ending.status) : ending.lost}));
}

void NodeLauncher::on_start_failure(const Error& error) {
  node_.send(encode_not_started(error));
  over_ = true;
}

void NodeLauncher::on_signals() {
  while (const auto number = signals_.next()) {
    if (*number == SIGCHLD) {
      if (chips_) chips_->on_child_end();
    } else if (*number != SIGINT) {  // what that means the node decides
      over_ = true;
    }
  }
}

void NodeLauncher::end_chips() {
  if (!chips_) return;
  const auto work_while = [this](auto&& goes_on) {
    const Deadline deadline = Deadline::after(kKillPatience);
    while (goes_on() && !deadline.passed()) {
      loop_.wait(Deadline::at(std::min(deadline.when(), output_->deadline().when())));
      output_->flush();
    }
  };
  if (chips_->any()) chips_->signal(SIGKILL);
  work_while([this] { return chips_->any(); });
  chips_->end_descendants();
  work_while([this] { return chips_->output_comes() && output_->error() == 0; });
  output_->begin_drain();
  work_while([this] { return !output_->drained() && output_->error() == 0; });
  output_->discard();
}

int run_node_launcher(const std::string& version) {
  UniqueFd node(kNodeFd);
  int type = 0;
  socklen_t length = sizeof type;
  if (::getsockopt(node.get(), SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
    static_cast<void>(node.release());  // somebody else's
    fail(Code::invalid_argument, "`baton node` is started by a Worker with hosts, which tells it what to do");
  }
  ::fcntl(node.get(), F_SETFD, FD_CLOEXEC);
  NodeLauncher(std::move(node), version).run();
  return 0;
}

}  // namespace baton::job
