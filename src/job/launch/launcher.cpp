#include "job/launch/launcher.hpp"

#include <sys/wait.h>

#include "base/fail.hpp"
#include "job/launch/job_run.hpp"
#include "job/launch/local_ranks.hpp"
#include "job/launch/program_path.hpp"
#include "wire/control.hpp"

namespace baton::job {
int RankOutcome::exit_code() const noexcept {
  if (!status) return 128 + SIGKILL;
  return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
}

bool RankOutcome::left_silently() const noexcept {
  if (status != 0 || !last_seen) return false;
  // A wrapper may end well while, or although, the process that joined does not.
  return last_seen->state == wire::RankState::dead ||
         (last_seen->state == wire::RankState::live && last_seen->process.pid == static_cast<std::uint32_t>(pid));
}

Launcher::Launcher(LaunchOptions options) : options_(std::move(options)) {
  if (options_.command.empty()) fail(Situation::missing_argument, "there is no program to run");
  if (options_.ranks < 1 || options_.ranks > static_cast<int>(wire::kMaxRanks)) {
    fail(Situation::ranks_impossible, "a job has 1 to {} ranks, not {}", wire::kMaxRanks, options_.ranks);
  }
  if (options_.output_form == OutputForm::raw && options_.ranks != 1) {
    fail(Code::invalid_argument, "raw output is for a single rank, not for {}", options_.ranks);
  }
  program_ = find_program(options_.command.front(), search_path(options_.environment));
}

LaunchResult Launcher::run() {
  const auto here = [this](const JobRun::Surroundings& around) {
    LocalRanksPlan plan{.job = job_name(program_),
                        .program = program_,
                        .command = options_.command,
                        .environment = options_.environment,
                        .count = options_.ranks,
                        .size = options_.ranks,
                        .bind = options_.bind};
    return std::make_unique<LocalRanks>(std::move(plan), around.signals, around.loop, around.output, around.events);
  };
  return JobRun(options_, here).run();
}

}  // namespace baton::job
