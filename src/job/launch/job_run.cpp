#include "job/launch/job_run.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "job/launch/job_report.hpp"
#include "job/launch/random_name.hpp"

namespace baton::job {
namespace {

/// The program's name, for `baton ps`, and random digits. Short enough to fit into wire::kNameBytes behind "baton
/// run/".
std::string job_name(const std::string& program) {
  std::string name = program.substr(program.rfind('/') + 1).substr(0, 16);
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    if (!plain) c = '_';
  }
  return fmt::format("{}-{}", name, random_name().substr(0, 16));
}

std::vector<std::string> rank_environment(const LaunchOptions& options, const std::string& job,
                                          const std::string& launcher) {
  std::vector<std::string> environment;
  for (const std::string& entry : options.environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    const bool ours = name == "BATON_RANK" || name == "BATON_SIZE" || name == "BATON_JOB" || name == "BATON_LAUNCHER";
    if (!ours) environment.push_back(entry);
  }
  environment.push_back(fmt::format("BATON_SIZE={}", options.ranks));
  environment.push_back(fmt::format("BATON_JOB={}", job));
  environment.push_back(fmt::format("BATON_LAUNCHER={}", launcher));
  return environment;
}

}  // namespace

JobRun::JobRun(const LaunchOptions& options, const std::string& program)
    : options_(options),
      program_(program),
      job_(job_name(program)),
      keeper_(job_),
      control_(static_cast<std::uint32_t>(options.ranks)),
      output_(loop_, {.form = options.output_form,
                      .ranks = options.ranks,
                      .output_fd = options.output_fd,
                      .error_fd = options.error_fd}) {
  orphanage_.leave_alone(keeper_.pid());
  loop_.add(signals_.fd(), EPOLLIN, [this] { on_signals(); });
  loop_.add(control_.fd(), EPOLLIN, [this] { control_.receive(); });
}

JobRun::~JobRun() {
  try {
    if (live_ == 0) return;
    kill_all();
    run_ranks();
    end_descendants();
  } catch (const std::exception& error) {
    log::warn("ending a job: {}", error.what());
  }
}

void JobRun::start() {
  input_.emplace(loop_, options_.input_fd);
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) fail_system("opening /dev/null");
  const RankRecipe recipe{.program = program_,
                          .arguments = options_.command,
                          .environment = rank_environment(options_, job_, control_.address()),
                          .signals = signals_,
                          .keeper_fd = keeper_.fd(),
                          .open_files = open_files_.before(),
                          .processors = options_.bind ? std::optional(allowed_processors()) : std::nullopt,
                          .ranks = options_.ranks};
  for (int rank = 0; rank < options_.ranks; ++rank) {
    try {
      RankProcess process = start_rank(recipe, rank, rank == 0 ? input_->rank_fd() : nothing.get(), start_pipe_);
      RankOutcome& outcome = ranks_.emplace_back();
      outcome.rank = rank;
      outcome.pid = process.pid;
      outcome.started = Deadline::Clock::now();
      group_is_gone_.push_back(false);
      rank_of_pid_.emplace(process.pid, rank);
      orphanage_.leave_alone(process.pid);
      ++live_;
      output_.add(rank, std::move(process.output), std::move(process.error));
      loop_.add(process.pidfd.get(), EPOLLIN, [this, rank] { on_rank_end(rank); });
      pidfds_.push_back(std::move(process.pidfd));
    } catch (const Error& error) {
      throw error_in(Situation::too_many_processes,
                     fmt::format("rank {} of {} could not be started: {}", rank, options_.ranks, error.message()),
                     error.notes());
    }
  }
  start_pipe_.close_writer();
  input_->start();
}

LaunchResult JobRun::run() {
  if (options_.timeout) job_deadline_ = Deadline::after(*options_.timeout);
  start();
  run_ranks();
  end_descendants();
  drain_output();
  if (start_error_) throw Error(*start_error_);
  if (const int error = output_.error(); error != 0 && error != EPIPE) fail_system("writing the output", error);
  return result();
}

void JobRun::run_ranks() {
  while (live_ > 0) {
    const auto when = std::min({phase_deadline_.when(), job_deadline_.when(), output_.deadline().when()});
    loop_.wait(Deadline::at(when));
    output_.flush();
    if (output_.error() != 0 && phase_ < Phase::terminating) terminate();
    if (phase_ == Phase::killing && phase_deadline_.passed()) return;
    on_time();
  }
}

void JobRun::reap_orphans() {
  orphanage_.reap([this](pid_t pid, int status) { control_.descendant_ended(pid, status); });
}

void JobRun::end_descendants() {
  for (const RankOutcome& rank : ranks_) {
    if (!group_is_gone_[static_cast<std::size_t>(rank.rank)]) ::kill(-rank.pid, SIGKILL);
  }
  const Deadline give_up = Deadline::after(kKillPatience);
  for (;;) {
    reap_orphans();
    if (!orphanage_.kill_all()) break;
    if (give_up.passed()) {
      log::warn("processes that the job started did not end within {} s of SIGKILL", kKillPatience.count());
      break;
    }
    loop_.wait(give_up);
  }
}

void JobRun::drain_output() {
  output_.begin_drain();
  // A reader that takes its time gets everything; only a job that was told to end does not wait for it for ever.
  const bool hurried = interrupted_by_ != 0 || timeout_report_;
  const Deadline deadline =
      hurried ? Deadline::after(options_.kill_after) : Deadline::at(Deadline::Clock::time_point::max());
  while (!output_.drained() && !kill_at_once_ && !deadline.passed()) {
    loop_.wait(deadline);
    output_.flush();
  }
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
  } else if (culprit != nullptr) {
    out.exit_code = culprit->exit_code();
    if (interrupted_by_ == 0 || culprit->ended < interrupted_at_)
      out.report = failure_report(ranks_, cause_of(ranks_, *culprit), options_.kill_after);
  }
  return out;
}

}  // namespace baton::job
