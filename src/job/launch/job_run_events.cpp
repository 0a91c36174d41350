// What happens to a running job, and what the launcher does about it.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/quote.hpp"
#include "job/launch/job_report.hpp"
#include "job/launch/job_run.hpp"

namespace baton::job {
namespace {

Deadline later(Deadline deadline, Deadline::Clock::duration by) {
  constexpr auto never = Deadline::Clock::time_point::max();
  return Deadline::at(deadline.when() > never - by ? never : deadline.when() + by);
}

}  // namespace

// Called in the order in which ranks ended: the event loop keeps it.
void JobRun::on_rank_end(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  RankOutcome& outcome = ranks_[index];
  // Taken first: what follows takes time, in which others may end because of this one.
  const auto ended = Deadline::Clock::now();
  // Mail, and news of a failed start, that came before the end belong before it.
  control_.receive();
  while (const auto failure = start_pipe_.next()) on_start_failure(*failure);
  outcome.last_seen = control_.look(static_cast<std::uint32_t>(rank));
  const auto status = status_of_child(static_cast<std::uint32_t>(outcome.pid));
  if (!status) return;
  // Written down before it is reaped: while that goes on, those who watch the rank cannot learn how it ended.
  control_.rank_ended(static_cast<std::uint32_t>(rank), outcome.pid, *status);
  if (::waitpid(outcome.pid, nullptr, WNOHANG) != outcome.pid) return;
  outcome.status = *status;
  outcome.ended = ended;
  loop_.remove(pidfds_[index].get());
  pidfds_[index].reset();
  orphanage_.forget(outcome.pid);
  --live_;
  if (::kill(-outcome.pid, 0) != 0 && errno == ESRCH) {
    group_is_gone_[index] = true;
    keeper_.forget(outcome.pid);
  }
  reap_orphans();
  if (outcome.failed() && phase_ == Phase::running) enter(Phase::grace, options_.grace);
}

void JobRun::on_start_failure(StartFailure failure) {
  if (start_error_) return;
  start_error_.emplace(Code::launch_failed,
                       fmt::format("rank {} of {} could not become {}: {}", failure.rank, options_.ranks,
                                   quote(program_), ::strerrordesc_np(failure.error_number)));
  kill_all();
}

void JobRun::on_signals() {
  while (const auto number = signals_.next()) {
    switch (*number) {
      case SIGCHLD: reap_orphans(); break;
      case SIGTSTP: stop_and_continue(); break;
      case SIGCONT:
        forward(SIGCONT);
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
        if (interrupted_by_ == 0) interrupted_at_ = Deadline::Clock::now();
        if (interrupted_by_ == 0 || *number == SIGINT) interrupted_by_ = *number;
        [[fallthrough]];
      default: forward(*number);
    }
  }
}

void JobRun::stop_and_continue() {
  if (signals_.was_ignored(SIGTSTP)) return;
  forward(SIGTSTP);
  const auto stopped = Deadline::Clock::now();
  ::raise(SIGSTOP);
  // Time that nobody was allowed to use does not count.
  const auto pause = Deadline::Clock::now() - stopped;
  job_deadline_ = later(job_deadline_, pause);
  phase_deadline_ = later(phase_deadline_, pause);
}

void JobRun::on_time() {
  if (phase_ < Phase::terminating && job_deadline_.passed() && live_ > 0) {
    for (RankOutcome& rank : ranks_) {
      if (!rank.status) rank.last_seen = control_.look(static_cast<std::uint32_t>(rank.rank));
    }
    timeout_report_ = timeout_report(ranks_, *options_.timeout);
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
  job_deadline_ = Deadline::at(Deadline::Clock::time_point::max());
  ask_to_end(SIGTERM);
  forward(SIGCONT);  // a stopped process does not see SIGTERM
}

void JobRun::kill_all() {
  if (phase_ == Phase::killing) return;
  enter(Phase::killing, kKillPatience);
  job_deadline_ = Deadline::at(Deadline::Clock::time_point::max());
  ask_to_end(SIGKILL);
}

void JobRun::ask_to_end(int signal) {
  for (RankOutcome& rank : ranks_) {
    if (!rank.status) rank.asked_with = signal;
  }
  forward(signal);
}

void JobRun::forward(int signal) {
  for (const RankOutcome& rank : ranks_) {
    if (!rank.status) ::kill(-rank.pid, signal);
  }
}

}  // namespace baton::job
