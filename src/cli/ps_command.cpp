#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "cli/command.hpp"
#include "job/job_listing.hpp"

namespace baton::cli {
namespace {

constexpr const char* kPsExamples = R"(
Jobs are found through what their processes hold, so a job is listed from the moment its ranks have met until its last
process is gone, however it was started. Only your own jobs are shown. Of a job over several hosts all ranks are shown, on
each of its hosts and where it was started.

examples:
  baton ps
  watch -n1 baton ps
  baton ps --explain train-5f3a             the beginning of a name will do
  baton ps --json | jq '.jobs[].ranks[] | select(.state == "waiting")')";

std::string since(const job::RankSnapshot& rank) {
  if (!rank.wait) return "-";
  return comm::describe_duration(std::max<std::int64_t>(comm::monotonic_ns() - rank.wait->since_ns, 0));
}

bool shows_wait(const std::string& state) { return state == "waiting" || state == "stopped"; }

/// With a column for hosts where there are several.
std::string as_table(const std::vector<job::JobSnapshot>& jobs) {
  const bool hosts = std::ranges::any_of(jobs, [](const job::JobSnapshot& job) {
    return std::ranges::any_of(job.ranks, [](const job::RankSnapshot& rank) { return !rank.host.empty(); });
  });
  std::vector<std::vector<std::string>> rows{{"JOB", "RANK", "PID", "STATE", "WAITS FOR", "SINCE"}};
  if (hosts) rows.front().insert(rows.front().begin() + 2, "HOST");
  for (const job::JobSnapshot& job : jobs) {
    for (const job::RankSnapshot& rank : job.ranks) {
      const std::string state = job::describe_state(job, rank);
      const bool wait = rank.wait && shows_wait(state);
      rows.push_back({job::display_name(job), fmt::format("{}", rank.rank),
                      rank.process.pid == 0 ? "-" : fmt::format("{}", rank.process.pid), state,
                      wait ? comm::describe(*rank.wait) : "-", wait ? since(rank) : "-"});
      if (hosts) rows.back().insert(rows.back().begin() + 2, rank.host.empty() ? "-" : rank.host);
    }
  }
  return format_table(rows);
}

std::string_view kind_of(wire::Operation waiting) {
  switch (waiting) {
    case wire::Operation::waiting: return "signal";
    case wire::Operation::in_barrier: return "barrier";
    case wire::Operation::in_collective: return "collective";
    default: return "other";
  }
}

nlohmann::json as_json(const job::JobSnapshot& job, const job::RankSnapshot& rank) {
  const std::string state = job::describe_state(job, rank);
  nlohmann::json out{{"rank", rank.rank}, {"pid", rank.process.pid}, {"state", state}};
  if (!rank.host.empty()) out["host"] = rank.host;
  if (rank.wait && shows_wait(state)) {
    const bool signal = rank.wait->operation == wire::Operation::waiting;
    out["waits_for"] = {{"kind", kind_of(rank.wait->operation)},
                        {"object", rank.wait->object},
                        {"index", rank.wait->index},
                        {"seconds", static_cast<double>(comm::monotonic_ns() - rank.wait->since_ns) * 1e-9},
                        {"text", comm::describe(*rank.wait)}};
    if (rank.wait->index == comm::kAllRanks) out["waits_for"]["index"] = nullptr;
    if (signal) {
      out["waits_for"]["comparison"] = symbol_of(rank.wait->comparison);
      out["waits_for"]["needs"] = rank.wait->needs;
    }
  }
  return out;
}

nlohmann::json as_json(const job::JobSnapshot& job) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const job::RankSnapshot& rank : job.ranks) ranks.push_back(as_json(job, rank));
  return {{"name", job::display_name(job)},
          {"token", fmt::format("{:02x}", fmt::join(job.token, ""))},
          {"created", static_cast<double>(job.created_ns) * 1e-9},
          {"in_process", job.in_process},
          {"ranks", std::move(ranks)}};
}

}  // namespace

PsCommand::PsCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("ps", "List the jobs that run now and what their ranks wait for.");
  app_->add_flag("--json", json_, "Write JSON.");
  app_->add_option("--explain", explain_, "Tell who waits for whom in this job, who notified last, and who is stuck.")
      ->type_name("JOB");
  app_->footer(kPsExamples);
}

int PsCommand::run(const std::vector<std::string>&) {
  if (!explain_.empty()) {
    for (const job::JobExplanation& job : job::explain_jobs(explain_)) {
      fmt::print("{}\n", job.name);
      for (const std::string& line : job.lines) fmt::print("  {}\n", line);
    }
    return 0;
  }
  const std::vector<job::JobSnapshot> jobs = job::find_jobs();
  if (json_) {
    nlohmann::json list = nlohmann::json::array();
    for (const job::JobSnapshot& job : jobs) list.push_back(as_json(job));
    fmt::print("{}\n", nlohmann::json{{"jobs", std::move(list)}}.dump(2));
  } else if (jobs.empty()) {
    fmt::print("no job of yours is running\n");
  } else {
    fmt::print("{}", as_table(jobs));
  }
  return 0;
}

}  // namespace baton::cli
