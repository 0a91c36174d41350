// Running a program as the ranks of a job on this machine.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "base/deadline.hpp"
#include "job/job_snapshot.hpp"
#include "job/launch/line_stream.hpp"

namespace baton::job {

struct LaunchOptions {
  /// The program and its arguments. Looked up as execvp() does.
  std::vector<std::string> command;
  int ranks = 1;
  /// NAME=value. BATON_RANK, BATON_SIZE, BATON_JOB and BATON_LAUNCHER are replaced.
  std::vector<std::string> environment;
  /// How long the job may run.
  std::optional<std::chrono::nanoseconds> timeout;
  /// After the first failure: how long the other ranks have to end by themselves and to say what they saw.
  std::chrono::nanoseconds grace = std::chrono::milliseconds(250);
  /// After SIGTERM: how long a rank has until SIGKILL.
  std::chrono::nanoseconds kill_after = std::chrono::seconds(2);
  OutputForm output_form = OutputForm::prefixed;
  /// Each rank stays on its share of the processors.
  bool bind = false;
  /// Where rank 0 reads from, and where the merged output goes. They stay the caller's.
  int input_fd = 0;
  int output_fd = 1;
  int error_fd = 2;
};

/// How one rank fared.
struct RankOutcome {
  int rank = 0;
  pid_t pid = 0;     // 0: it was not started
  std::string host;  // where it ran; empty: on this one
  Deadline::Clock::time_point started{};
  Deadline::Clock::time_point ended{};
  /// In the form of waitpid(); nothing if not even SIGKILL ended it, or its host was lost.
  std::optional<int> status;
  /// Why nothing more is known of it: "host b does not answer".
  std::string lost;
  /// The last signal with which the launcher asked it to end, or 0 if it ended by itself.
  int asked_with = 0;
  /// What the control segment told of it just before its end was noted; nothing if it never joined.
  std::optional<RankSnapshot> last_seen;

  [[nodiscard]] bool running() const noexcept { return pid != 0 && !status && lost.empty(); }
  [[nodiscard]] bool failed() const noexcept { return pid != 0 && status != 0; }
  /// It ended as if all was well, but the others still counted on it.
  [[nodiscard]] bool left_silently() const noexcept;
  /// The exit code of a shell for it: 128 + N for signal N.
  [[nodiscard]] int exit_code() const noexcept;
};

struct LaunchResult {
  /// 0; or the code of the rank that failed first; 124 after a timeout; 141 if nobody read the output any more.
  int exit_code = 0;
  std::vector<RankOutcome> ranks;
  /// What went wrong, for people; nothing if all went well, or ended as somebody asked from outside.
  std::optional<Error> report;
  /// SIGINT, SIGTERM, SIGHUP or SIGQUIT, if it was forwarded to the ranks; else 0.
  int interrupted_by = 0;
};

inline constexpr int kTimeoutExitCode = 124;
inline constexpr int kOutputGoneExitCode = 141;

/// Starts the ranks, merges their output, forwards signals, and ends all when one fails. When run() returns, nothing
/// that the job started is left, and that holds too if this process is killed meanwhile.
/// For processes with one thread: it forks, and takes over signals and orphans while it runs.
class Launcher {
 public:
  /// Throws Error (launch_failed) if the program cannot be run, (invalid_argument) if the options make no sense.
  explicit Launcher(LaunchOptions options);

  /// Throws Error (launch_failed, system) if not all ranks could be started, or the output could not be written; then
  /// none is left either.
  [[nodiscard]] LaunchResult run();

 private:
  LaunchOptions options_;
  std::string program_;  // its path
};

}  // namespace baton::job
