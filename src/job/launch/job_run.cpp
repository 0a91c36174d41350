#include "job/launch/job_run.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "job/launch/job_report.hpp"

namespace baton::job {

JobRun::JobRun(const LaunchOptions& options, const MakeProcesses& make_processes)
    : options_(options),
      output_(loop_, {.form = options.output_form,
                      .ranks = options.ranks,
                      .output_fd = options.output_fd,
                      .error_fd = options.error_fd}),
      processes_(make_processes({.signals = signals_, .loop = loop_, .output = output_, .events = *this})) {
  loop_.add(signals_.fd(), EPOLLIN, [this] { on_signals(); });
  ranks_.resize(static_cast<std::size_t>(options.ranks));
  for (int rank = 0; rank < options.ranks; ++rank) ranks_[static_cast<std::size_t>(rank)].rank = rank;
}

JobRun::~JobRun() {
  try {
    if (!processes_->any()) return;
    kill_all();
    run_ranks();
    processes_->end_descendants();
  } catch (const std::exception& error) {
    log::warn("ending a job: {}", error.what());
  }
}

LaunchResult JobRun::run() {
  if (options_.timeout) job_deadline_ = Deadline::after(*options_.timeout);
  input_.emplace(loop_, options_.input_fd);
  processes_->start(input_->rank_fd());
  input_->start();
  run_ranks();
  processes_->end_descendants();
  drain_output();
  if (start_error_) throw Error(*start_error_);
  if (const int error = output_.error(); error != 0 && error != EPIPE) fail_system("writing the output", error);
  return result();
}

void JobRun::run_ranks() {
  while (processes_->any()) {
    const auto when = std::min({phase_deadline_.when(), job_deadline_.when(), output_.deadline().when()});
    loop_.wait(Deadline::at(when));
    if (std::exchange(asks_what_they_do_, false)) tell_what_they_do();
    output_.flush();
    if (output_.error() != 0 && phase_ < Phase::terminating) terminate();
    if (phase_ == Phase::killing && phase_deadline_.passed()) return;
    on_time();
  }
}

void JobRun::drain_output() {
  // A reader that takes its time gets everything; only a job that was told to end does not wait for it for ever.
  const bool hurried = interrupted_by_ != 0 || timeout_report_;
  const Deadline deadline = hurried ? Deadline::after(options_.kill_after) : Deadline::never();
  const auto wait_while = [&](auto&& condition) {
    while (condition() && !kill_at_once_ && !deadline.passed() && output_.error() == 0) {
      loop_.wait(Deadline::at(std::min(deadline.when(), output_.deadline().when())));
      output_.flush();
    }
  };
  wait_while([this] { return processes_->output_comes(); });
  output_.begin_drain();
  wait_while([this] { return !output_.drained(); });
  output_.discard();
}

LaunchResult JobRun::result() const {
  LaunchResult out;
  out.ranks = ranks_;
  out.interrupted_by = interrupted_by_;
  const RankOutcome* culprit = first_failure(ranks_);
  if (timeout_report_) {
    out.exit_code = kTimeoutExitCode;
    out.report = timeout_report_;
  } else if (output_.error() != 0) {
    out.exit_code = kOutputGoneExitCode;
  } else if (culprit == nullptr && interrupted_by_ != 0 && ranks_.front().pid == 0) {
    out.exit_code = 128 + interrupted_by_;  // before there was a rank to pass it on to
  } else if (culprit != nullptr) {
    out.exit_code = culprit->exit_code();
    if (interrupted_by_ == 0 || culprit->ended < interrupted_at_)
      out.report = failure_report(ranks_, cause_of(ranks_, *culprit), options_.kill_after);
  }
  return out;
}

}  // namespace baton::job
