#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <baton/device_list.hpp>
#include <baton/options.hpp>

#include "base/edit_distance.hpp"
#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/option_values.hpp"
#include "base/quote.hpp"
#include "base/trace_file.hpp"
#include "cli/command.hpp"
#include "cli/help_format.hpp"
#include "cli/python_program.hpp"
#include "cli/version.hpp"
#include "job/host_list.hpp"
#include "job/hosts/hosts_launcher.hpp"
#include "job/launch/launcher.hpp"

namespace baton::cli {
namespace {

constexpr const char* kRunExamples = R"(
examples:
  baton run -n 4 ./train --epochs 3          everything after the program belongs to it
  baton run -d 0-3 --timeout 10m ./train     one rank for each device, ten minutes at most
  baton run -n 2 -- ./--odd-name             `--` ends the options
  baton run -n 8 --no-prefix ./table | sort  lines without "[rank] " in front
  baton run --trace run.trace -n 4 ./train   what all ranks do, for baton trace run.trace
  baton run --hosts a:4,b:8 ./train          ranks 0-3 on host a, 4-11 on host b, by ssh
  baton run --hosts a,b -n 64 ./train        32 on each
  baton run examples/allreduce -d 0-3        a folder with main.py: it starts its chips itself
  baton run --hosts a,b examples/allreduce   its chips are on these hosts

Each line of output carries its rank. When a rank fails, the others get --grace to say what they saw; then all are
ended, and baton returns the exit code of the rank that failed first (128 + N for signal N; 124 after --timeout).
Rank 0 reads baton's standard input. SIGINT, SIGTERM and SIGHUP go to all ranks; a second SIGINT kills them at once.

With --hosts, ssh starts `baton agent` on each host, at the path of this one, and ranks start in a folder of the same path
with the same environment. The hosts connect back to this one, encrypted, with a token that came to them by ssh.)";

/// A duration that may also be zero.
std::chrono::nanoseconds parse_patience(std::string_view option, const std::string& text) {
  return text == "0" ? std::chrono::nanoseconds(0) : parse_duration(option, text);
}

/// The option whose name is closest to a word that is not one; empty if none is close.
std::string nearest_option(const CLI::App& command, const std::string& word) {
  std::string nearest;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (edit_distance(word, "--" + name) <= 2) nearest = "--" + name;
    }
  }
  return nearest;
}

}  // namespace

RunCommand::RunCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("run", "Run a program as the ranks of a job.");
  app_->formatter(std::make_shared<ProgramHelpFormat>());
  app_->prefix_command();
  app_->add_option("-n,--ranks", ranks_, "How many ranks. Default: one for each device, or 1.")->type_name("COUNT");
  app_->add_option("-d,--devices", devices_, "The devices, one for each rank: 0, 0-3, 0,2-4.")->type_name("LIST");
  app_->add_option("--timeout", timeout_, "End the job if it takes longer: 90s, 10m.")->type_name("TIME");
  app_->add_option("--grace", grace_, "How long the others may go on after a rank has failed.")
      ->type_name("TIME")
      ->capture_default_str();
  app_->add_option("--kill-after", kill_after_, "How long a rank may take to end after SIGTERM.")
      ->type_name("TIME")
      ->capture_default_str();
  app_->add_option("--trace", trace_, "Record what all ranks do, for `baton trace`.")->type_name("FILE");
  app_->add_option("--hosts", hosts_, "The hosts, and how many ranks each runs: a,b or a:4,b:8.")->type_name("LIST");
  app_->add_option("--hostfile", hostfile_, "The same from a file, one host per line: a, a:4 or a slots=4.")
      ->type_name("FILE");
  app_->add_option("--launch-agent", launch_agent_, "The command to reach {host} with, instead of ssh.")
      ->type_name("COMMAND");
  app_->add_option("--remote-baton", remote_baton_, "Where baton is on the hosts. Default: where this one is.")
      ->type_name("PATH");
  app_->add_option("--interface", interface_, "The network on which the hosts reach this one. Default: any.")
      ->type_name("NAME");
  app_->add_flag("--bind", bind_, "Each rank stays on its share of the processors.");
  app_->add_flag("--no-prefix", no_prefix_, "Do not put \"[rank] \" in front of each line.");
  app_->footer(kRunExamples);
}

std::optional<int> RunCommand::wanted_ranks() const {
  if (ranks_.empty()) return std::nullopt;
  return parse_integer("--ranks", ranks_, 1, "a number of ranks such as 4");
}

job::HostsOptions RunCommand::hosts() const {
  if (!hosts_.empty() && !hostfile_.empty()) {
    fail(Situation::excluding_options, "--hosts and --hostfile both name the hosts");
  }
  if (!devices_.empty()) fail(Situation::excluding_options, "--devices is for one host, --hosts for several");
  job::HostsOptions out;
  out.hosts =
      job::share_ranks(hosts_.empty() ? job::read_hostfile(hostfile_) : job::parse_hosts(hosts_), wanted_ranks());
  const Options& set = baton::options();
  out.launch_agent = launch_agent_.empty() ? set.launch_agent.value_or(out.launch_agent) : launch_agent_;
  out.remote_baton = remote_baton_.empty() ? set.remote_baton.value_or("") : remote_baton_;
  out.interface = interface_.empty() ? set.interface.value_or("") : interface_;
  out.version = version();
  out.patience = baton::options().join_timeout;
  return out;
}

int RunCommand::rank_count() const {
  const std::optional<int> ranks = wanted_ranks();
  if (devices_.empty()) return ranks.value_or(1);
  const std::vector<int> devices = parse_device_list(devices_);
  const int count = static_cast<int>(devices.size());
  if (ranks && *ranks != count) {
    fail(Situation::excluding_options, "--ranks {} and --devices {} disagree: that list has {} device{}", *ranks,
         devices_, count, count == 1 ? "" : "s");
  }
  return count;
}

std::vector<std::string> program_of(const CLI::App& command, const std::vector<std::string>& after_dashes) {
  std::vector<std::string> program = command.remaining();
  if (!program.empty() && program.front().starts_with('-')) {
    const std::string nearest = nearest_option(command, program.front());
    throw Error(Code::invalid_argument,
                fmt::format("baton {} has no option {}{}", command.get_name(), quote(program.front()),
                            nearest.empty() ? "" : fmt::format("; do you mean {}?", nearest)),
                {}, "Correct the option, or put `--` before a program whose name begins with a dash.");
  }
  // Behind a program's name a `--` is the program's own.
  const std::size_t skip = program.empty() && !after_dashes.empty() ? 1 : 0;
  program.insert(program.end(), after_dashes.begin() + static_cast<std::ptrdiff_t>(skip), after_dashes.end());
  if (program.empty()) {
    fail(Situation::missing_argument, "PROGRAM is missing, as in: baton {} -n 4 ./program", command.get_name());
  }
  return program;
}

void RunCommand::run_folder(std::vector<std::string> command) const {
  const std::filesystem::path folder = command.front();
  if (!trace_.empty()) ::setenv("BATON_TRACE", std::filesystem::absolute(trace_).c_str(), 1);
  // Where its chips are.
  const std::pair<const std::string&, const char*> of_node[] = {{hosts_, "BATON_HOSTS"},
                                                                {launch_agent_, "BATON_LAUNCH_AGENT"},
                                                                {remote_baton_, "BATON_REMOTE_BATON"},
                                                                {interface_, "BATON_INTERFACE"}};
  std::size_t understood = trace_.empty() ? 1 : 2;
  for (const auto& [value, variable] : of_node) {
    if (value.empty()) continue;
    ::setenv(variable, value.c_str(), 1);
    ++understood;
  }
  if (app_->count_all() > understood) {
    fail(Code::invalid_argument,
         "{} starts its chips itself: its options come behind its name, as in baton run {} -d 0-3",
         quote(folder.string()), folder.string());
  }
  command.front() = (folder / "main.py").string();
  become_python(std::move(command));
}

int RunCommand::run(const std::vector<std::string>& after_dashes) {
  job::LaunchOptions options;
  options.command = program_of(*app_, after_dashes);
  std::error_code ignored;
  const auto main = std::filesystem::path(options.command.front()) / "main.py";
  if (std::filesystem::is_regular_file(main, ignored)) run_folder(options.command);
  std::optional<job::HostsOptions> hosts;
  if (over_hosts()) {
    hosts = this->hosts();
    if (baton::options().check) {
      throw Error(Code::unsupported, "a check does not see what orders ranks of several hosts", {},
                  "Check the program on one host: baton check -n COUNT PROGRAM.");
    }
    options.ranks = hosts->hosts.back().first_rank + hosts->hosts.back().count;
  } else {
    for (const auto* option : {"--launch-agent", "--remote-baton", "--interface"}) {
      if (app_->count(option) > 0)
        fail(Situation::missing_argument, "{} says how to reach hosts, but there is no --hosts", option);
    }
    options.ranks = rank_count();
  }
  options.environment = environment_of_this_process();
  // Its ranks share the file, which is in use from before the first until after the last.
  std::optional<TraceFile> trace;
  if (trace_.empty() && baton::options().trace != "off" && baton::options().trace != "last") {
    trace_ = baton::options().trace;
  }
  if (!trace_.empty()) {
    const std::string path = std::filesystem::absolute(trace_).string();
    trace.emplace(path);
    std::erase_if(options.environment, [](const std::string& entry) { return entry.starts_with("BATON_TRACE="); });
    if (hosts) {
      hosts->trace = path;
    } else {
      options.environment.push_back("BATON_TRACE=" + path);
    }
  }
  if (!timeout_.empty()) options.timeout = parse_duration("--timeout", timeout_);
  options.grace = parse_patience("--grace", grace_);
  options.kill_after = parse_patience("--kill-after", kill_after_);
  options.bind = bind_;
  if (no_prefix_) options.output_form = options.ranks == 1 ? job::OutputForm::raw : job::OutputForm::lines;
  const job::LaunchResult result =
      hosts ? job::run_on_hosts(options, std::move(*hosts)) : job::Launcher(std::move(options)).run();
  if (result.report) fmt::print(stderr, "baton: {}\n", result.report->what());
  if (result.interrupted_by != 0 && result.interrupted_by != SIGINT) {
    fmt::print(stderr, "baton: ended by SIG{}\n", ::sigabbrev_np(result.interrupted_by));
  }
  return result.exit_code;
}

}  // namespace baton::cli
