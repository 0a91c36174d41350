#include "job/launch/job_report.hpp"

#include <sys/wait.h>

#include <csignal>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/process_stat.hpp"
#include "comm/grouped_facts.hpp"

namespace baton::job {
namespace {

using comm::GroupedFacts;

std::string describe_duration(std::chrono::nanoseconds duration) { return comm::describe_duration(duration.count()); }

std::int64_t failure_ns(const RankOutcome& outcome) {
  const auto reaped = std::chrono::duration_cast<std::chrono::nanoseconds>(outcome.ended.time_since_epoch()).count();
  const auto& seen = outcome.last_seen;
  const bool noted = seen && seen->state == wire::RankState::dead && seen->ended_ns > 0;
  return noted ? std::min(seen->ended_ns, reaped) : reaped;
}

std::string describe_other(const RankOutcome& other, std::chrono::nanoseconds kill_after) {
  if (other.pid == 0) return "was not started";
  if (!other.lost.empty()) return "lost, " + other.lost;
  if (!other.status) return "still there, even after SIGKILL";
  const std::string how = describe_wait_status(*other.status);
  if (other.asked_with == 0) return other.failed() ? "failed too, " + how : "ended well";
  const int signal = WIFSIGNALED(*other.status) ? WTERMSIG(*other.status) : 0;
  if (other.asked_with == SIGKILL && signal == SIGKILL) {
    return fmt::format("did not end within {} of SIGTERM, ended by SIGKILL", describe_duration(kill_after));
  }
  if (signal == SIGTERM) return "ended because of it, by SIGTERM";
  return fmt::format("asked to end because of it, {}", how);
}

std::string describe_now(const RankOutcome& rank) {
  if (rank.pid == 0) return "not started";
  if (!rank.lost.empty()) return "lost, " + rank.lost;
  if (rank.status) return "ended, " + describe_wait_status(*rank.status);
  const auto stat = rank.host.empty() ? read_process_stat(static_cast<std::uint32_t>(rank.pid)) : std::nullopt;
  if (stat && (stat->state == 'T' || stat->state == 't')) return "stopped";
  const auto& seen = rank.last_seen;
  if (!seen || seen->state == wire::RankState::absent) return "running, has not joined";
  if (seen->state == wire::RankState::left) return "running, has left the job";
  return seen->wait ? "waiting for " + comm::describe(*seen->wait) : "running";
}

/// Whether the end of another rank may have made this one fail. It throws peer_died then, which many programs turn into
/// an exit code.
bool may_follow(const RankOutcome& failed) {
  const auto& seen = failed.last_seen;
  if (seen && seen->end_kind == wire::EndKind::error && seen->end_value != 0)
    return seen->end_value == static_cast<std::uint32_t>(Code::peer_died);
  return failed.status && WIFEXITED(*failed.status);
}

/// Whether it has failed by itself: nobody asked it to end, and no peer's end can be the reason. Times of other hosts
/// may be wrong by what messages took, so that they alone do not tell who was first.
bool failed_by_itself(const RankOutcome& rank) {
  return rank.failed() && rank.asked_with == 0 && !rank.host.empty() && !may_follow(rank);
}

Situation situation_of(const RankOutcome& culprit) {
  if (!culprit.lost.empty()) return Situation::host_lost;
  if (culprit.left_silently()) return Situation::left_silently;
  const int status = culprit.status.value_or(SIGKILL);
  if (!WIFSIGNALED(status)) return Situation::rank_ended;
  if (culprit.last_seen && !culprit.last_seen->reason.empty()) return Situation::threw_uncaught;
  switch (WTERMSIG(status)) {
    case SIGKILL: return Situation::rank_killed;
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT: return Situation::rank_crashed;
    default: return Situation::rank_ended;
  }
}

}  // namespace

const RankOutcome& cause_of(std::span<const RankOutcome> ranks, const RankOutcome& failed) {
  const RankOutcome* cause = &failed;
  if (!may_follow(failed)) return failed;
  for (const RankOutcome& rank : ranks) {
    if (rank.left_silently() && failure_ns(rank) < failure_ns(*cause)) cause = &rank;
  }
  return *cause;
}

const RankOutcome* first_failure(std::span<const RankOutcome> ranks) {
  const RankOutcome* first = nullptr;
  const bool any_by_itself = std::any_of(ranks.begin(), ranks.end(), failed_by_itself);
  for (const RankOutcome& rank : ranks) {
    if (any_by_itself ? !failed_by_itself(rank) : !rank.failed()) continue;
    if (first == nullptr || failure_ns(rank) < failure_ns(*first)) first = &rank;
  }
  return first;
}

Error failure_report(std::span<const RankOutcome> ranks, const RankOutcome& culprit,
                     std::chrono::nanoseconds kill_after) {
  std::vector<std::string> notes;
  if (culprit.last_seen) {
    if (!culprit.last_seen->reason.empty()) {
      notes.push_back("it threw " + culprit.last_seen->reason);
    } else if (const auto& wait = culprit.last_seen->wait) {
      const std::int64_t waited = std::max<std::int64_t>(failure_ns(culprit) - wait->since_ns, 0);
      notes.push_back(
          fmt::format("it was waiting for {}, for {}", comm::describe(*wait), comm::describe_duration(waited)));
    } else if (const auto activity = describe_activity(culprit.last_seen->activity); !activity.empty()) {
      notes.push_back(fmt::format("the last thing it did in Baton: {}", activity));
    }
  }
  GroupedFacts others;
  for (const RankOutcome& other : ranks) {
    if (other.rank != culprit.rank) others.add(other.rank, describe_other(other, kill_after));
  }
  for (const std::string& fact : others.facts()) notes.push_back(others.line(fact));
  const std::string after = describe_duration(culprit.ended - culprit.started);
  const int status = culprit.status.value_or(SIGKILL);
  const std::string what = !culprit.lost.empty() ? "was lost"
                           : WIFSIGNALED(status) ? "was ended by " + describe_wait_status(status)
                                                 : "ended with " + describe_wait_status(status);
  const std::string where = culprit.host.empty() ? "" : fmt::format(" on host {}", culprit.host);
  const std::string why = !culprit.lost.empty()     ? ": " + culprit.lost
                          : culprit.left_silently() ? ", without leaving the job"
                                                    : "";
  return error_in(situation_of(culprit),
                  fmt::format("rank {} (pid {}{}) {} after {}{}", culprit.rank, culprit.pid, where, what, after, why),
                  std::move(notes));
}

Error timeout_report(std::span<const RankOutcome> ranks, std::chrono::nanoseconds timeout,
                     std::vector<std::string> explanation) {
  GroupedFacts facts;
  std::map<std::string, std::int64_t> longest_wait_ns;
  for (const RankOutcome& rank : ranks) {
    const std::string fact = describe_now(rank);
    facts.add(rank.rank, fact);
    if (!rank.status && rank.last_seen && rank.last_seen->wait) {
      auto& longest = longest_wait_ns[fact];
      longest = std::max(longest, comm::monotonic_ns() - rank.last_seen->wait->since_ns);
    }
  }
  std::vector<std::string> notes;
  for (const std::string& fact : facts.facts()) {
    const std::int64_t ns = longest_wait_ns[fact];
    notes.push_back(facts.line(fact) + (ns > 0 ? ", for " + comm::describe_duration(ns) : ""));
  }
  if (!explanation.empty()) notes.emplace_back("in detail:");
  for (std::string& line : explanation) notes.push_back(std::move(line));
  return Error(Code::job_timeout, fmt::format("the job did not end within {}", describe_duration(timeout)),
               std::move(notes));
}

}  // namespace baton::job
