// The processes of a job's ranks, on this host or on others: what the run of a job asks of them, and what they tell it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "job/job_snapshot.hpp"

namespace baton::job {

/// How the process of a rank ended.
struct RankEnding {
  int rank = 0;
  Deadline::Clock::time_point when{};
  /// In the form of waitpid().
  int status = 0;
  /// Why nothing is known of the process any more: "host b does not answer". Empty if `status` is how it ended.
  std::string lost;
  /// What the control segment told of it just before its end was noted; nothing if it never joined.
  std::optional<RankSnapshot> last_seen;
};

/// What the processes tell. Called by the event loop and by start(), on one thread.
class RankEvents {
 public:
  RankEvents() = default;
  RankEvents(const RankEvents&) = delete;
  RankEvents& operator=(const RankEvents&) = delete;
  virtual ~RankEvents() = default;

  /// On `host`; empty: on this one.
  virtual void on_rank_started(int rank, pid_t pid, const std::string& host) = 0;
  /// In the order in which they ended.
  virtual void on_rank_ended(const RankEnding& ending) = 0;
  /// A rank did not become the program. The others may have.
  virtual void on_start_failure(const Error& error) = 0;
};

/// Takes what ranks write.
class RankOutput {
 public:
  RankOutput() = default;
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;
  virtual ~RankOutput() = default;

  /// The reading ends of pipes that hold the standard output and the standard error of `rank`.
  virtual void add(int rank, UniqueFd output, UniqueFd error) = 0;
};

class RankProcesses {
 public:
  RankProcesses() = default;
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;
  virtual ~RankProcesses() = default;

  /// The value of BATON_JOB in the ranks.
  [[nodiscard]] virtual const std::string& job() const noexcept = 0;
  /// Begins to start the ranks. Rank 0 reads `input_fd`, which may be closed afterwards. Throws Error (launch_failed)
  /// if it fails at once.
  virtual void start(int input_fd) = 0;
  /// Whether a rank runs, or may yet be started.
  [[nodiscard]] virtual bool any() const noexcept = 0;
  /// Sends a signal to the process groups of the ranks that have not ended.
  virtual void signal(int number) = 0;
  /// The same for one of them.
  virtual void signal_rank(int rank, int number) = 0;
  /// A child of this process ended (SIGCHLD).
  virtual void on_child_end() = 0;
  /// Asks what look() and explain() tell, and waits for the answers.
  virtual void refresh(const Deadline& deadline) = 0;
  /// What `rank` does, or did last; nothing if the job has not met.
  [[nodiscard]] virtual std::optional<RankSnapshot> look(int rank) = 0;
  /// What all ranks do, as lines of a report; none if the job has not met.
  [[nodiscard]] virtual std::vector<std::string> explain() = 0;
  /// After the last rank has ended, or would not: kills what they started and left behind, and waits for its end.
  virtual void end_descendants() = 0;
  /// After end_descendants(): whether more of what they wrote is on its way.
  [[nodiscard]] virtual bool output_comes() const noexcept = 0;
};

// After SIGKILL only the kernel can keep a process alive, inside a system call that cannot be interrupted.
inline constexpr std::chrono::seconds kKillPatience{10};

}  // namespace baton::job
