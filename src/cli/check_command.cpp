#include <algorithm>
#include <fstream>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/nameless_file.hpp"
#include "base/option_values.hpp"
#include "base/quote.hpp"
#include "base/shell_word.hpp"
#include "base/trace_file.hpp"
#include "check/check_trace.hpp"
#include "cli/command.hpp"
#include "cli/help_format.hpp"
#include "job/launch/launcher.hpp"

namespace baton::cli {
namespace {

constexpr const char* kCheckExamples = R"(
examples:
  baton check -n 4 ./train --epochs 1     four ranks: what they put, get and wait for
  baton check --seeds 100 ./moe           ranks and chips in one process: under a hundred schedules
  baton check --seed 17 ./moe             the one schedule again
  baton check -n 4 --suppress races.txt ./train

Runs the program, records what its ranks and kernels touch and what orders them, and reports each race once: two accesses
to the same bytes of a window or a tensor, one of them a write, that nothing orders. It need not have gone wrong in this
run. Loads and stores through pointers are seen where the program notes them (note_read(), note_write()). Pipes of kernels
are strict.
A file of suppressions has a part of a report on each line; lines that begin with # are comments.
Returns 1 if there is a race, otherwise what the program returned.)";

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(Code::invalid_argument, "the file of suppressions {} cannot be read", quote(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

}  // namespace

CheckCommand::CheckCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("check", "Run a program and report the races of its ranks and kernels.");
  app_->formatter(std::make_shared<ProgramHelpFormat>());
  app_->prefix_command();
  app_->add_option("-n,--ranks", ranks_, "How many ranks.")->type_name("COUNT")->capture_default_str();
  app_->add_option("--seeds", seeds_, "How many schedules of simulated chips, and of ranks in one process, to try.")
      ->type_name("COUNT");
  app_->add_option("--seed", seed_, "Try this schedule.")->type_name("NUMBER");
  app_->add_option("--suppress", suppress_, "Leave out reports that contain a line of this file.")->type_name("FILE");
  app_->add_option("--timeout", timeout_, "End a run if it takes longer: 90s, 10m.")->type_name("TIME");
  app_->footer(kCheckExamples);
}

std::vector<std::optional<int>> CheckCommand::schedules() const {
  if (!seed_.empty() && !seeds_.empty()) {
    fail(Situation::excluding_options, "--seed is one schedule, and --seeds are many: give one of them");
  }
  if (!seed_.empty()) return {parse_integer("--seed", seed_, 0, "a number, 0 or more")};
  if (seeds_.empty()) return {std::nullopt};
  std::vector<std::optional<int>> all;
  const int count = parse_integer("--seeds", seeds_, 1, "a number of schedules such as 100");
  all.reserve(static_cast<std::size_t>(count));
  for (int seed = 0; seed < count; ++seed) all.emplace_back(seed);
  return all;
}

std::string CheckCommand::repeat(const std::vector<std::string>& program, std::optional<int> seed) const {
  std::string text = "baton check";
  if (ranks_ != "1") text += " -n " + ranks_;
  if (seed) text += fmt::format(" --seed {}", *seed);
  for (const std::string& word : program) text += " " + shell_word(word);
  return text;
}

int CheckCommand::run(const std::vector<std::string>& after_dashes) {
  const std::vector<std::string> program = program_of(*app_, after_dashes);
  const std::vector<std::string> suppressed = suppress_.empty() ? std::vector<std::string>() : lines_of(suppress_);
  std::vector<std::string> reported;
  std::uint64_t hidden = 0;
  std::uint64_t accesses = 0;
  int exit_code = 0;
  const std::vector<std::optional<int>> all = schedules();
  for (const std::optional<int> seed : all) {
    const NamelessFile file;
    // Keeps it in use: programs that follow each other are recorded one after another.
    const TraceFile trace(file.path());
    job::LaunchOptions options;
    options.command = program;
    options.ranks = parse_integer("--ranks", ranks_, 1, "a number of ranks such as 4");
    options.environment = environment_of_this_process();
    set_variable(options.environment, "BATON_TRACE", file.path());
    set_variable(options.environment, "BATON_CHECK", "on");
    set_variable(options.environment, "BATON_PIPES", "strict");
    if (seed) set_variable(options.environment, "BATON_SEED", std::to_string(*seed));
    if (!timeout_.empty()) options.timeout = parse_duration("--timeout", timeout_);
    const job::LaunchResult result = job::Launcher(std::move(options)).run();
    if (result.report) fmt::print(stderr, "baton: {}\n", result.report->what());
    if (exit_code == 0) exit_code = result.exit_code;
    if (!trace.has_processes()) {
      // It failed before it came to Baton, and has said why.
      if (result.exit_code != 0) return result.exit_code;
      fail(Code::invalid_argument, "{} did not use Baton: nothing was recorded", quote(program.front()));
    }
    const check::TraceFindings findings = check::check_trace(file.path());
    accesses += findings.accesses;
    for (const check::TraceFindings::Report& race : findings.races) {
      if (std::ranges::find(reported, race.key) != reported.end()) continue;
      reported.push_back(race.key);
      if (std::ranges::any_of(suppressed,
                              [&](const std::string& line) { return race.text.find(line) != std::string::npos; })) {
        ++hidden;
        continue;
      }
      fmt::print(stderr, "baton: {}\n  repeat: {}\n", race.text, repeat(program, seed));
    }
    if (result.interrupted_by != 0) return result.exit_code;
  }
  const std::size_t races = reported.size() - hidden;
  fmt::print(stderr, "baton: {} race{} in {} run{} ({} accesses){}\n", races, races == 1 ? "" : "s", all.size(),
             all.size() == 1 ? "" : "s", accesses, hidden == 0 ? "" : fmt::format(", {} suppressed", hidden));
  return races != 0 ? kExitFailure : exit_code;
}

}  // namespace baton::cli
