// Starting the process of one rank.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/processor_mask.hpp"
#include "base/unique_fd.hpp"
#include "job/launch/signal_guard.hpp"

namespace baton::job {

/// What the processes of a job have in common.
struct RankRecipe {
  std::string program;                   // a path
  std::vector<std::string> arguments;    // with the program's name as the user wrote it in front
  std::vector<std::string> environment;  // NAME=value, without BATON_RANK
  const SignalGuard& signals;
  int keeper_fd;
  rlimit open_files;  // the limits to give to the ranks
  /// Each rank stays on its share of these; nothing: on all of them.
  std::optional<ProcessorMask> processors;
  int first_rank;  // of those on this host
  int ranks;       // on this host
};

/// A process that could not become the program.
struct StartFailure {
  int rank;
  int error_number;
};

/// Through which new processes tell why they could not become the program. Empty and closed once all have become it.
class StartPipe {
 public:
  StartPipe();
  /// Closes this process's writing end: call when all ranks have been forked.
  void close_writer() noexcept { write_.reset(); }
  [[nodiscard]] int read_fd() const noexcept { return read_.get(); }
  [[nodiscard]] int write_fd() const noexcept { return write_.get(); }
  /// The next failure, or nothing. Never blocks.
  [[nodiscard]] std::optional<StartFailure> next();

 private:
  UniqueFd read_;
  UniqueFd write_;
};

/// The launcher's hold on one rank.
struct RankProcess {
  pid_t pid;
  UniqueFd pidfd;
  UniqueFd output;  // reading ends of its standard output and standard error
  UniqueFd error;
};

/// Forks `rank` with `input_fd` as its standard input. It leads a process group of its own, which the keeper knows
/// before the program runs, and dies with this process. Call from a process with one thread.
[[nodiscard]] RankProcess start_rank(const RankRecipe& recipe, int rank, int input_fd, const StartPipe& start);

}  // namespace baton::job
