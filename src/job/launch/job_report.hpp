// What people are told when a job fails.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "job/launch/launcher.hpp"

namespace baton::job {

/// The failed rank whose failure was noted first, by any rank or by the launcher; nullptr if none failed.
/// Ranks that fail because of it may well be reaped before it; on several hosts, one that may have counts if
/// no other has failed by itself.
[[nodiscard]] const RankOutcome* first_failure(std::span<const RankOutcome> ranks);

/// Why `failed`, the first failure, came about: a rank that ended before it without leaving the job, if its end may
/// have been the reason; else `failed` itself.
[[nodiscard]] const RankOutcome& cause_of(std::span<const RankOutcome> ranks, const RankOutcome& failed);

/// Names the culprit, what it was doing, and what became of the others.
[[nodiscard]] Error failure_report(std::span<const RankOutcome> ranks, const RankOutcome& culprit,
                                   std::chrono::nanoseconds kill_after);

/// Lists what each rank was doing. `ranks` as they were at the timeout.
[[nodiscard]] Error timeout_report(std::span<const RankOutcome> ranks, std::chrono::nanoseconds timeout,
                                   std::vector<std::string> explanation);

}  // namespace baton::job
