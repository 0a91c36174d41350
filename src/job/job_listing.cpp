#include "job/job_listing.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <baton/error.hpp>

#include "base/log.hpp"
#include "base/process_stat.hpp"
#include "base/quote.hpp"
#include "comm/hang_report.hpp"
#include "comm/shared_memory.hpp"
#include "job/control_search.hpp"
#include "job/job_picture.hpp"
#include "job/launch/descendants.hpp"

namespace baton::job {
namespace {

/// A job and its control segment.
struct FoundJob {
  JobSnapshot job;
  std::shared_ptr<comm::SharedMemory> memory;

  [[nodiscard]] bool is_picture() const noexcept { return job.ranks_here == 0; }
  void read() { job = describe_control({static_cast<const std::byte*>(memory->address()), memory->bytes()}); }
};

/// Reads the segment at `path`, or nothing if it is none.
std::optional<FoundJob> read_job(const std::string& path) {
  FoundJob found{{}, map_control(path)};
  if (found.memory == nullptr) return std::nullopt;
  try {
    found.read();
    return found;
  } catch (const Error& error) {
    log::debug("{}: {}", path, error.message());
    return std::nullopt;
  }
}

/// The job of which `part` is the control segment of one host; `part` itself if there is no such thing.
std::string_view whole_of(std::string_view part) { return part.substr(0, part.find_last_of("./")); }

/// Whether `picture` shows the processes of `part`, as far as either knows them: long names lose their ends, where they
/// tell hosts apart.
bool shows_processes_of(const JobSnapshot& picture, const JobSnapshot& part) {
  if (picture.ranks.size() != part.ranks.size() || part.ranks_here == part.ranks.size()) return false;
  bool any = false;
  for (std::size_t rank = 0; rank < part.ranks.size(); ++rank) {
    const std::uint32_t here = part.ranks[rank].process.pid;
    const std::uint32_t there = picture.ranks[rank].process.pid;
    if (here == 0 || there == 0) continue;
    if (here != there) return false;
    any = true;
  }
  return any;
}

/// A job over several hosts is found as its pictures and as the segments of those of its hosts whose processes are seen
/// here: one stays, a picture if somebody can bring it up to date.
std::vector<FoundJob> without_parts(std::vector<FoundJob> found) {
  constexpr std::chrono::seconds kPatience{2};
  std::vector<FoundJob> jobs;
  std::set<std::string> whole;
  for (FoundJob& one : found) {
    if (!one.is_picture()) continue;
    if (whole.contains(one.job.name) || !refresh_picture(one.job.token, Deadline::after(kPatience))) continue;
    one.read();
    const bool joined = std::ranges::any_of(
        one.job.ranks, [](const RankSnapshot& rank) { return rank.state != wire::RankState::absent; });
    whole.insert(one.job.name);
    if (joined) jobs.push_back(std::move(one));
  }
  for (FoundJob& one : found) {
    if (one.memory == nullptr || one.is_picture()) continue;
    const std::string name = display_name(one.job);
    const bool is_shown = std::ranges::any_of(
        jobs, [&](const FoundJob& other) { return other.is_picture() && shows_processes_of(other.job, one.job); });
    if (!is_shown && !whole.contains(std::string(whole_of(name)))) jobs.push_back(std::move(one));
  }
  return jobs;
}

std::vector<FoundJob> find_all() {
  std::vector<FoundJob> jobs;
  std::set<std::array<std::uint8_t, 16>> seen;
  for (const pid_t pid : all_processes()) {
    struct stat status {};
    if (::stat(fmt::format("/proc/{}", pid).c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    for (const std::string& path : control_files(pid)) {
      auto found = read_job(path);
      if (found && seen.insert(found->job.token).second) jobs.push_back(*std::move(found));
    }
  }
  jobs = without_parts(std::move(jobs));
  std::sort(jobs.begin(), jobs.end(), [](const FoundJob& a, const FoundJob& b) {
    return std::tie(a.job.created_ns, a.job.token) < std::tie(b.job.created_ns, b.job.token);
  });
  return jobs;
}

}  // namespace

std::vector<JobSnapshot> find_jobs() {
  std::vector<JobSnapshot> jobs;
  for (FoundJob& found : find_all()) jobs.push_back(std::move(found.job));
  return jobs;
}

std::vector<JobExplanation> explain_jobs(std::string_view name) {
  std::vector<JobExplanation> explained;
  std::vector<std::string> known;
  for (const FoundJob& found : find_all()) {
    known.push_back(display_name(found.job));
    if (!known.back().starts_with(name)) continue;
    const auto* header = static_cast<const wire::ControlHeader*>(found.memory->address());
    explained.push_back({known.back(), comm::report_hang(view_of(*header, found.memory->bytes())).lines});
  }
  if (explained.empty()) {
    throw Error(Code::invalid_argument, fmt::format("there is no job {}", quote(name)),
                {known.empty() ? "no job of yours is running" : fmt::format("there are {}", fmt::join(known, ", "))},
                "`baton ps` lists the jobs that run now.");
  }
  return explained;
}

std::string display_name(const JobSnapshot& job) {
  constexpr std::string_view kOwnLauncher = "baton run/";
  return job.name.starts_with(kOwnLauncher) ? job.name.substr(kOwnLauncher.size()) : job.name;
}

std::string describe_state(const JobSnapshot& job, const RankSnapshot& rank) {
  switch (rank.state) {
    case wire::RankState::absent:
      if (rank.seen == comm::ProcessSeen::silent) break;
      return "not joined";
    case wire::RankState::left: return "left";
    case wire::RankState::dead: return "dead: " + describe_end(rank);
    case wire::RankState::live: break;
  }
  if (!rank.host.empty()) {
    switch (rank.seen) {
      case comm::ProcessSeen::nothing: return "not seen";
      case comm::ProcessSeen::silent: return "not seen: its host did not answer";
      case comm::ProcessSeen::ended: return "dead: cause unknown";
      case comm::ProcessSeen::stopped: return "stopped";
      case comm::ProcessSeen::runs: break;
    }
  } else if (!job.in_process) {
    const auto stat = read_process_stat(rank.process.pid);
    // Ended, and nobody was there to note how.
    if (!stat || stat->start_time != rank.process.start_time || stat->ended()) return "dead: cause unknown";
    if (stat->state == 'T' || stat->state == 't') return "stopped";
  }
  return rank.wait ? "waiting" : "running";
}

}  // namespace baton::job
