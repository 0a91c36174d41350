// What happens to a running job, and what the launcher does about it.
#include <signal.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "job/launch/job_report.hpp"
#include "job/launch/job_run.hpp"

namespace baton::job {
namespace {

// How long ranks of other hosts have to tell what they do.
constexpr std::chrono::milliseconds kLookPatience{500};

Deadline later(Deadline deadline, Deadline::Clock::duration by) {
  constexpr auto never = Deadline::Clock::time_point::max();
  return Deadline::at(deadline.when() > never - by ? never : deadline.when() + by);
}

}  // namespace

void JobRun::on_rank_started(int rank, pid_t pid, const std::string& host) {
  RankOutcome& outcome = ranks_[static_cast<std::size_t>(rank)];
  outcome.pid = pid;
  outcome.host = host;
  outcome.started = Deadline::Clock::now();
}

void JobRun::on_rank_ended(const RankEnding& ending) {
  RankOutcome& outcome = ranks_[static_cast<std::size_t>(ending.rank)];
  if (ending.lost.empty()) outcome.status = ending.status;
  outcome.lost = ending.lost;
  outcome.ended = ending.when;
  outcome.last_seen = ending.last_seen;
  if (outcome.failed() && phase_ == Phase::running) enter(Phase::grace, options_.grace);
}

void JobRun::on_start_failure(const Error& error) {
  if (start_error_) return;
  start_error_ = error;
  kill_all();
}

void JobRun::on_signals() {
  while (const auto number = signals_.next()) {
    switch (*number) {
      case SIGCHLD: processes_->on_child_end(); break;
      case SIGTSTP: stop_and_continue(); break;
      case SIGCONT:
        processes_->signal(SIGCONT);
        if (input_) input_->look_again();
        break;
      case SIGINT:
        if (interrupted_by_ == SIGINT) {
          kill_at_once_ = true;
          kill_all();
          break;
        }
        [[fallthrough]];
      case SIGTERM:
      case SIGHUP:
      case SIGQUIT:
        // The first one asks what they do. Other hosts take a while to tell, so not here.
        if (*number == SIGQUIT && !std::exchange(explained_, true)) {
          asks_what_they_do_ = true;
        } else {
          interrupt(*number);
        }
        break;
      default: processes_->signal(*number);
    }
  }
}

void JobRun::interrupt(int number) {
  if (interrupted_by_ == 0) interrupted_at_ = Deadline::Clock::now();
  if (interrupted_by_ == 0 || number == SIGINT) interrupted_by_ = number;
  processes_->signal(number);
}

void JobRun::tell_what_they_do() {
  processes_->refresh(Deadline::after(kLookPatience));
  const std::vector<std::string> lines = processes_->explain();
  if (lines.empty()) return interrupt(SIGQUIT);
  std::string text = fmt::format("baton: the ranks of {}:\n", processes_->job());
  for (const std::string& line : lines) text += fmt::format("  {}\n", line);
  text += "  a second SIGQUIT (Ctrl-\\) is passed on to them\n";
  output_.tell(text);
}

void JobRun::stop_and_continue() {
  if (signals_.was_ignored(SIGTSTP)) return;
  processes_->signal(SIGTSTP);
  const auto stopped = Deadline::Clock::now();
  ::raise(SIGSTOP);
  // Time that nobody was allowed to use does not count.
  const auto pause = Deadline::Clock::now() - stopped;
  job_deadline_ = later(job_deadline_, pause);
  phase_deadline_ = later(phase_deadline_, pause);
}

void JobRun::on_time() {
  if (phase_ < Phase::terminating && job_deadline_.passed() && processes_->any()) {
    processes_->refresh(Deadline::after(kLookPatience));
    for (RankOutcome& rank : ranks_) {
      if (!rank.status) rank.last_seen = processes_->look(rank.rank);
    }
    timeout_report_ = timeout_report(ranks_, *options_.timeout, processes_->explain());
    terminate();
  } else if (phase_deadline_.passed()) {
    if (phase_ == Phase::grace)
      terminate();
    else if (phase_ == Phase::terminating)
      kill_all();
  }
}

void JobRun::enter(Phase phase, std::chrono::nanoseconds duration) {
  phase_ = phase;
  phase_deadline_ = Deadline::after(duration);
}

void JobRun::terminate() {
  enter(Phase::terminating, options_.kill_after);
  job_deadline_ = Deadline::never();
  ask_to_end(SIGTERM);
  processes_->signal(SIGCONT);  // a stopped process does not see SIGTERM
}

void JobRun::kill_all() {
  if (phase_ == Phase::killing) return;
  enter(Phase::killing, kKillPatience);
  job_deadline_ = Deadline::never();
  ask_to_end(SIGKILL);
}

void JobRun::ask_to_end(int signal) {
  for (RankOutcome& rank : ranks_) {
    if (rank.running()) rank.asked_with = signal;
  }
  processes_->signal(signal);
}

}  // namespace baton::job
