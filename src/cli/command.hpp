// The subcommands of `baton`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace baton::job {
struct HostsOptions;
}

namespace baton::cli {

struct TuneGrid;

// Exit codes of `baton` itself. `baton run` otherwise returns the code of the first rank that failed.
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotStarted = 127;

/// The group of commands that people do not call themselves.
inline constexpr const char* kForPrograms = "Started by other commands and by programs";

/// One subcommand: its options, and what it does once they are read.
class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  /// Whether the command line chose it.
  [[nodiscard]] bool chosen() const { return app_ != nullptr && app_->parsed(); }
  /// The exit code. Throws Error. `after_dashes` is what stood behind the first `--` of the command line, with it.
  [[nodiscard]] virtual int run(const std::vector<std::string>& after_dashes) = 0;

 protected:
  CLI::App* app_ = nullptr;
};

/// The program and its arguments, of a command that takes them. Throws Error (invalid_argument) if there is none.
[[nodiscard]] std::vector<std::string> program_of(const CLI::App& command,
                                                  const std::vector<std::string>& after_dashes);

/// baton run -n 4 ./program: starts the ranks of a job.
class RunCommand : public Command {
 public:
  explicit RunCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  [[nodiscard]] int rank_count() const;
  /// What -n says, if it is there.
  [[nodiscard]] std::optional<int> wanted_ranks() const;
  /// The job runs on hosts that the command line names.
  [[nodiscard]] bool over_hosts() const { return !hosts_.empty() || !hostfile_.empty(); }
  [[nodiscard]] job::HostsOptions hosts() const;
  /// A folder with main.py and its arguments.
  void run_folder(std::vector<std::string> command) const;

  std::string ranks_;
  std::string devices_;
  std::string timeout_;
  std::string grace_ = "250ms";
  std::string kill_after_ = "2s";
  std::string trace_;
  std::string hosts_;
  std::string hostfile_;
  std::string launch_agent_;
  std::string remote_baton_;
  std::string interface_;
  bool bind_ = false;
  bool no_prefix_ = false;
};

/// baton agent: the ranks of a job over several hosts that run on this one.
class AgentCommand : public Command {
 public:
  explicit AgentCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;
};

/// baton node: the chips of a node on other hosts.
class NodeCommand : public Command {
 public:
  explicit NodeCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;
};

/// baton gather: the agent of a host whose ranks another launcher started.
class GatherCommand : public Command {
 public:
  explicit GatherCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;
};

/// baton check -n 4 ./program: runs a program and reports its races.
class CheckCommand : public Command {
 public:
  explicit CheckCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  /// The seeds to run with; nothing: as it is.
  [[nodiscard]] std::vector<std::optional<int>> schedules() const;
  [[nodiscard]] std::string repeat(const std::vector<std::string>& program, std::optional<int> seed) const;

  std::string ranks_ = "1";
  std::string seeds_;
  std::string seed_;
  std::string suppress_;
  std::string timeout_;
};

/// baton ps: lists the jobs that run now and what their ranks wait for.
class PsCommand : public Command {
 public:
  explicit PsCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  bool json_ = false;
  std::string explain_;
};

/// baton explain BATON-E031: the page of an error.
class ExplainCommand : public Command {
 public:
  explicit ExplainCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  std::string code_;
};

/// baton trace FILE: what a trace tells, and traces in other formats.
class TraceCommand : public Command {
 public:
  explicit TraceCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  std::string file_;
  std::string page_;
  std::string json_;
  std::string perfetto_;
  std::string other_;
};

/// baton compile kernel.cpp: compiles kernels ahead of their first use, and looks after the cache.
class CompileCommand : public Command {
 public:
  explicit CompileCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  std::vector<std::string> sources_;
  std::string output_dir_;
  std::string platform_;
  std::string core_ = "vector";
  bool orchestration_ = false;
  std::vector<std::string> include_dirs_;
  std::vector<std::string> defines_;
  int jobs_ = 0;
  bool debug_ = false;
  bool print_path_ = false;
  bool list_ = false;
  bool cache_info_ = false;
  bool clear_cache_ = false;
};

/// baton test PATH: runs tests of kernels. The Python package does it; this finds it.
class TestCommand : public Command {
 public:
  explicit TestCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;
};

/// baton tune: measures which collectives are fastest on this machine.
class TuneCommand : public Command {
 public:
  explicit TuneCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  [[nodiscard]] TuneGrid grid() const;
  void run_job(int ranks, const TuneGrid& grid, const std::string& results) const;

  std::vector<std::string> ranks_;
  std::vector<std::string> sizes_ = {"8", "1KiB", "8KiB", "64KiB", "1MiB", "16MiB"};
  std::vector<std::string> operations_;
  std::string budget_ = "20ms";
  std::string output_;
  std::string results_;
};

/// baton bench [SUITE]: measures Baton beside its peers. The harness of a source tree does it; this finds it.
class BenchCommand : public Command {
 public:
  explicit BenchCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;
};

/// baton completion bash: what a shell needs to complete command lines.
class CompletionCommand : public Command {
 public:
  explicit CompletionCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  const CLI::App& baton_;
  std::string shell_;
};

/// baton man: the manual page.
class ManCommand : public Command {
 public:
  explicit ManCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  const CLI::App& baton_;
};

/// baton doctor: says what works on this machine.
class DoctorCommand : public Command {
 public:
  explicit DoctorCommand(CLI::App& baton);
  [[nodiscard]] int run(const std::vector<std::string>& after_dashes) override;

 private:
  bool json_ = false;
  std::string platform_;
};

}  // namespace baton::cli
