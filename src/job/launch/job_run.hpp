// One run of a job: from the first fork to the last process gone.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/deadline.hpp"
#include "job/launch/control_watch.hpp"
#include "job/launch/event_loop.hpp"
#include "job/launch/input_relay.hpp"
#include "job/launch/keeper.hpp"
#include "job/launch/launcher.hpp"
#include "job/launch/open_files_limit.hpp"
#include "job/launch/orphanage.hpp"
#include "job/launch/output_merger.hpp"
#include "job/launch/rank_process.hpp"
#include "job/launch/signal_guard.hpp"

namespace baton::job {

class JobRun {
 public:
  JobRun(const LaunchOptions& options, const std::string& program);
  /// Ends whatever still runs.
  ~JobRun();
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  [[nodiscard]] LaunchResult run();

 private:
  /// How far the end of the job has come. Moves only forward.
  enum class Phase : std::uint8_t { running, grace, terminating, killing };
  // After SIGKILL only the kernel can keep a process alive, inside a system call that cannot be interrupted.
  static constexpr std::chrono::seconds kKillPatience{10};

  void start();
  void reap_orphans();
  void on_rank_end(int rank);
  void on_start_failure(StartFailure failure);
  void on_signals();
  void stop_and_continue();
  void on_time();

  void enter(Phase phase, std::chrono::nanoseconds duration);
  void terminate();
  void kill_all();
  void forward(int signal);
  void ask_to_end(int signal);

  void run_ranks();
  void end_descendants();
  void drain_output();
  [[nodiscard]] LaunchResult result() const;

  const LaunchOptions& options_;
  const std::string& program_;

  SignalGuard signals_;
  OpenFilesLimit open_files_;
  Orphanage orphanage_;
  std::string job_;
  Keeper keeper_;
  EventLoop loop_;
  ControlWatch control_;
  StartPipe start_pipe_;
  std::optional<InputRelay> input_;
  OutputMerger output_;

  std::vector<RankOutcome> ranks_;
  std::vector<UniqueFd> pidfds_;     // by rank; empty once it was reaped
  std::vector<bool> group_is_gone_;  // by rank
  std::unordered_map<pid_t, int> rank_of_pid_;
  int live_ = 0;

  Phase phase_ = Phase::running;
  Deadline phase_deadline_ = Deadline::at(Deadline::Clock::time_point::max());
  Deadline job_deadline_ = Deadline::at(Deadline::Clock::time_point::max());
  int interrupted_by_ = 0;
  Deadline::Clock::time_point interrupted_at_{};
  bool kill_at_once_ = false;
  std::optional<Error> start_error_;
  std::optional<Error> timeout_report_;
};

}  // namespace baton::job
