// The life of ranks, as the control segment tells it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/futex.hpp"
#include "comm/backend.hpp"
#include "comm/rendezvous.hpp"
#include "wire/control.hpp"

namespace baton::comm {

/// Notes that `rank` died and wakes every waiter of the job. False if it had left or was known to be dead; how it ended
/// is added even then if it was not known.
bool mark_dead(wire::ControlHeader& control, std::uint32_t rank, wire::EndKind kind, std::uint32_t value,
               FutexScope scope = FutexScope::shared);

/// The same by the rank itself, which failed because of `reason`.
bool mark_failed(wire::ControlHeader& control, std::uint32_t rank, const FailureReason& reason, FutexScope scope);

/// The same for what a rendezvous tells of a rank of any host.
void mark_ended(wire::ControlHeader& control, const RankEnd& end, FutexScope scope);

/// Notes that `rank` left and wakes every waiter of the job.
void mark_left(wire::ControlHeader& control, std::uint32_t rank, FutexScope scope);

[[nodiscard]] wire::RankState state_of(const wire::ControlHeader& control, std::uint32_t rank) noexcept;

/// The one of `ranks` that died first, if any is dead: it is the cause, and others may have died of it.
[[nodiscard]] std::optional<std::uint32_t> first_death(const wire::ControlHeader& control,
                                                       std::span<const std::uint32_t> ranks) noexcept;

/// How a dead rank ended and what it was doing: "SIGKILL while waiting for signal 3 of "scratch"", or what it threw.
/// Rank and pid are the caller's to tell.
[[nodiscard]] std::string describe_end(const wire::ControlHeader& control, std::uint32_t rank);

/// What a rank does now: `has waited for signal 3 of "scratch" (needs >= 7) for 1.2 s`, "is running", "is stopped".
[[nodiscard]] std::string describe_activity(const wire::ControlHeader& control, std::uint32_t rank);

/// Whether its process is of this host.
[[nodiscard]] bool is_here(const wire::ControlHeader& control, std::uint32_t rank) noexcept;

/// Whether it is a live rank of this host, which others of it may watch.
[[nodiscard]] bool lives_here(const wire::ControlHeader& control, std::uint32_t rank) noexcept;

/// "pid 4711", "pid 4711 on host b", or nothing for a rank that lives in this process with others.
[[nodiscard]] std::string describe_process(const wire::ControlHeader& control, std::uint32_t rank);

}  // namespace baton::comm
