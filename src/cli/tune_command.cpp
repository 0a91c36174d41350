#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/option_values.hpp"
#include "base/processors.hpp"
#include "base/quote.hpp"
#include "cli/command.hpp"
#include "cli/tune/measurement.hpp"
#include "cli/tune/results_pipe.hpp"
#include "cli/tune/rules.hpp"
#include "job/launch/launcher.hpp"

namespace baton::cli {
namespace {

constexpr const char* kTuneExamples = R"(
Starts jobs with each number of ranks, measures every algorithm of every collective, and writes a table of the
fastest ones, which programs read when BATON_COLLECTIVE_TABLE names it. An algorithm that Baton would not take by itself
must be faster by more than 5 %. Measure while the machine does nothing else.

examples:
  baton tune -o machine.table                        all of it
  baton tune -n 2,4,8 -s 8,4KiB,64KiB,1MiB,16MiB     other numbers and sizes, to standard output
  baton tune --operations allreduce,all_to_all
  BATON_COLLECTIVE_TABLE=machine.table baton run -n 4 ./train)";

constexpr double kMargin = 0.05;

/// What is measured must not depend on what was measured or set before.
std::vector<std::string> environment_without_choices() {
  std::vector<std::string> environment = environment_of_this_process();
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("BATON_COLLECTIVE"); });
  return environment;
}

std::vector<int> usual_ranks() {
  const int processors = usable_processors();
  return processors > 2 ? std::vector<int>{2, processors} : std::vector<int>{2, 4};
}

}  // namespace

TuneCommand::TuneCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("tune", "Measure which collectives are fastest on this machine.");
  app_->add_option("-n,--ranks", ranks_, "Numbers of ranks. Default: 2, and 4 or as many as there are processors.")
      ->delimiter(',')
      ->type_name("LIST");
  app_->add_option("-s,--sizes", sizes_, "Bytes of a rank's contribution.")
      ->delimiter(',')
      ->type_name("LIST")
      ->capture_default_str();
  app_->add_option("--operations", operations_, "The collectives. Default: all.")->delimiter(',')->type_name("LIST");
  app_->add_option("--budget", budget_, "How long to measure each algorithm with each size.")
      ->type_name("TIME")
      ->capture_default_str();
  app_->add_option("-o,--output", output_, "The file for the table. Default: standard output.")->type_name("FILE");
  // For the ranks that this command starts.
  app_->add_option("--results", results_)->group("");
  app_->footer(kTuneExamples);
}

TuneGrid TuneCommand::grid() const {
  TuneGrid grid;
  for (const std::string& size : sizes_) grid.sizes.push_back(parse_bytes("--sizes", size));
  std::sort(grid.sizes.begin(), grid.sizes.end());
  grid.budget = parse_duration("--budget", budget_);
  std::vector<std::string_view> names;
  for (int i = 0; i < collectives::kOperations; ++i) {
    const auto operation = static_cast<collectives::Operation>(i);
    names.push_back(name_of(operation));
    const auto named = [&](const std::string& name) { return name == name_of(operation); };
    if (operations_.empty() || std::any_of(operations_.begin(), operations_.end(), named))
      grid.operations.push_back(operation);
  }
  for (const std::string& name : operations_) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail(Situation::unknown_choice, "--operations: there is no {}; there are {}", quote(name),
           fmt::join(names, ", "));
  }
  return grid;
}

void TuneCommand::run_job(int ranks, const TuneGrid& grid, const std::string& results) const {
  job::LaunchOptions launch;
  std::vector<std::string_view> names;
  for (const collectives::Operation operation : grid.operations) names.push_back(name_of(operation));
  launch.command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                    "tune",
                    "--results",
                    results,
                    "--budget",
                    budget_,
                    "--sizes",
                    fmt::format("{}", fmt::join(grid.sizes, ",")),
                    "--operations",
                    fmt::format("{}", fmt::join(names, ","))};
  launch.ranks = ranks;
  launch.bind = true;  // how many the kernel puts on one processor would be luck
  launch.environment = environment_without_choices();
  const job::LaunchResult result = job::Launcher(std::move(launch)).run();
  if (result.exit_code == 0) return;
  fail(Code::rank_failed, "the job of {} ranks ended with {}{}", ranks, result.exit_code,
       result.report ? fmt::format(": {}", result.report->message()) : "");
}

int TuneCommand::run(const std::vector<std::string>&) {
  const TuneGrid all = grid();
  if (!results_.empty()) {
    measure_as_rank(all, results_);
    return 0;
  }
  std::vector<int> counts;
  for (const std::string& count : ranks_) counts.push_back(parse_integer("--ranks", count, 2, "numbers such as 2,4"));
  if (counts.empty()) counts = usual_ranks();
  // Before minutes of measuring; a table that is there stays until they have passed.
  if (!output_.empty() && !std::ofstream(output_, std::ios::app)) fail_system("opening " + output_);
  const std::size_t total = measurement_count(all) * counts.size();
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  ResultsPipe results([=](std::size_t done) {
    if (terminal) fmt::print(stderr, "\r\033[Kbaton tune: {} of {} measurements", done, total);
  });
  for (const int ranks : counts) {
    if (!terminal) fmt::print(stderr, "baton tune: {} ranks, {} measurements\n", ranks, total / counts.size());
    run_job(ranks, all, results.path());
  }
  const std::string table = format_table(rules_from(results.finish(), kMargin));
  if (terminal) fmt::print(stderr, "\r\033[K");
  if (output_.empty()) {
    fmt::print("{}", table);
    return 0;
  }
  std::ofstream out(output_);
  out << "# Written by `baton tune`; BATON_COLLECTIVE_TABLE names it.\n" << table;
  if (!out.flush()) fail_system("writing " + output_);
  fmt::print(stderr, "baton tune: BATON_COLLECTIVE_TABLE={}\n", output_);
  return 0;
}

}  // namespace baton::cli
