// The ranks of a job that run on this host: from the first fork to the last process gone.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "job/launch/control_watch.hpp"
#include "job/launch/event_loop.hpp"
#include "job/launch/keeper.hpp"
#include "job/launch/open_files_limit.hpp"
#include "job/launch/orphanage.hpp"
#include "job/launch/rank_process.hpp"
#include "job/launch/rank_processes.hpp"
#include "job/launch/signal_guard.hpp"

namespace baton::job {

/// Which ranks run here, and as what.
struct LocalRanksPlan {
  std::string job;                       // the value of BATON_JOB
  std::string program;                   // a path
  std::vector<std::string> command;      // with the program's name as the user wrote it
  std::vector<std::string> environment;  // NAME=value; variables of ranks are replaced
  std::vector<std::string> variables{};  // NAME=value; further ones for all ranks
  int first_rank = 0;
  int count = 1;  // ranks first_rank to first_rank + count - 1 run here
  int size = 1;   // of the job
  /// Each rank stays on its share of the processors.
  bool bind = false;
};

/// A name for a job that runs `program`, that no other job has.
[[nodiscard]] std::string job_name(const std::string& program);

class LocalRanks final : public RankProcesses {
 public:
  /// All but the plan live longer than this. Forks the keeper.
  LocalRanks(LocalRanksPlan plan, const SignalGuard& signals, EventLoop& loop, RankOutput& output, RankEvents& events);
  ~LocalRanks() override;

  [[nodiscard]] const std::string& job() const noexcept override { return plan_.job; }
  void start(int input_fd) override;
  [[nodiscard]] bool any() const noexcept override { return live_ > 0; }
  void signal(int number) override;
  void signal_rank(int rank, int number) override;
  /// Whether its process is stopped, by SIGSTOP and its like.
  [[nodiscard]] bool is_stopped(int rank) const;
  void on_child_end() override;
  void refresh(const Deadline&) override {}
  [[nodiscard]] std::optional<RankSnapshot> look(int rank) override;
  [[nodiscard]] std::vector<std::string> explain() override;
  /// The control segment of the job; nothing if the ranks of this host have not met.
  [[nodiscard]] std::optional<comm::ControlView> control() const { return control_.view(); }
  void end_descendants() override;
  [[nodiscard]] bool output_comes() const noexcept override { return false; }

 private:
  struct Process {
    pid_t pid;
    UniqueFd pidfd;  // empty once it was reaped
    bool group_is_gone = false;
  };

  [[nodiscard]] std::vector<std::string> environment() const;
  void on_end(int rank);
  [[nodiscard]] Process& process(int rank) { return processes_[static_cast<std::size_t>(rank - plan_.first_rank)]; }

  LocalRanksPlan plan_;
  const SignalGuard& signals_;
  EventLoop& loop_;
  RankOutput& output_;
  RankEvents& events_;

  OpenFilesLimit open_files_;
  Orphanage orphanage_;
  Keeper keeper_;
  ControlWatch control_;
  StartPipe start_pipe_;
  std::vector<Process> processes_;  // by rank, from first_rank on
  int live_ = 0;
};

}  // namespace baton::job
