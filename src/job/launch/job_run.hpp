// One run of a job: when it ends, and how, wherever its ranks are.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/deadline.hpp"
#include "job/launch/event_loop.hpp"
#include "job/launch/input_relay.hpp"
#include "job/launch/launcher.hpp"
#include "job/launch/output_merger.hpp"
#include "job/launch/rank_processes.hpp"
#include "job/launch/signal_guard.hpp"

namespace baton::job {

class JobRun final : private RankEvents {
 public:
  /// What a maker of processes may use; it lives longer than they do.
  struct Surroundings {
    const SignalGuard& signals;
    EventLoop& loop;
    RankOutput& output;
    RankEvents& events;
  };
  using MakeProcesses = std::function<std::unique_ptr<RankProcesses>(const Surroundings&)>;

  JobRun(const LaunchOptions& options, const MakeProcesses& make_processes);
  /// Ends whatever still runs.
  ~JobRun() override;
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  [[nodiscard]] LaunchResult run();

 private:
  /// How far the end of the job has come. Moves only forward.
  enum class Phase : std::uint8_t { running, grace, terminating, killing };

  void on_rank_started(int rank, pid_t pid, const std::string& host) override;
  void on_rank_ended(const RankEnding& ending) override;
  void on_start_failure(const Error& error) override;
  void on_signals();
  void stop_and_continue();
  /// A signal for all ranks that asks them to end.
  void interrupt(int number);
  /// On standard error; what there is nothing to tell for is passed on to them.
  void tell_what_they_do();
  void on_time();

  void enter(Phase phase, std::chrono::nanoseconds duration);
  void terminate();
  void kill_all();
  void ask_to_end(int signal);

  void run_ranks();
  void drain_output();
  [[nodiscard]] LaunchResult result() const;

  const LaunchOptions& options_;

  SignalGuard signals_;
  EventLoop loop_;
  OutputMerger output_;
  std::unique_ptr<RankProcesses> processes_;
  std::optional<InputRelay> input_;

  std::vector<RankOutcome> ranks_;  // by rank; without a pid if it was not started

  Phase phase_ = Phase::running;
  Deadline phase_deadline_ = Deadline::never();
  Deadline job_deadline_ = Deadline::never();
  int interrupted_by_ = 0;
  Deadline::Clock::time_point interrupted_at_{};
  bool kill_at_once_ = false;
  bool explained_ = false;
  bool asks_what_they_do_ = false;
  std::optional<Error> start_error_;
  std::optional<Error> timeout_report_;
};

}  // namespace baton::job
