// What the control segment of a job tells about its ranks, copied out at one moment.
//
// The bytes belong to other processes: they may be malformed, change while they are read, or be forged. Whatever they
// hold, a snapshot has bounded sizes, known enumerators and printable text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/liveness.hpp"
#include "comm/hang_report.hpp"
#include "comm/wait_record.hpp"
#include "wire/control.hpp"

namespace baton::job {

struct RankSnapshot {
  std::uint32_t rank = 0;
  wire::RankState state = wire::RankState::absent;
  ProcessId process{};                                  // zeros if the rank has not joined
  std::string host;                                     // where it runs; empty: on this one
  comm::ProcessSeen seen = comm::ProcessSeen::nothing;  // what its host said of its process
  wire::EndKind end_kind = wire::EndKind::unknown;
  std::uint32_t end_value = 0;                       // a signal, an exit code, or the Code of an error
  std::string reason;                                // what it threw; empty if that is not known
  std::int64_t ended_ns = 0;                         // CLOCK_MONOTONIC; 0 while it lives
  wire::Operation activity = wire::Operation::none;  // what it does or did last
  std::optional<comm::WaitDescription> wait;         // the longest of those that it is in
};

struct JobSnapshot {
  std::string name;
  std::array<std::uint8_t, 16> token;
  std::uint32_t ranks_here;
  std::int64_t created_ns;  // CLOCK_REALTIME
  bool in_process;
  std::vector<RankSnapshot> ranks;
};

/// Reads one rank's block.
[[nodiscard]] RankSnapshot describe_rank(const wire::RankBlock& block, std::uint32_t rank);

/// Reads a whole control segment, aligned as wire::ControlHeader. Throws Error (protocol) if it is none.
[[nodiscard]] JobSnapshot describe_control(std::span<const std::byte> segment);

/// How a dead rank ended: "SIGKILL", "exit code 3", "it threw std::runtime_error: no such file".
[[nodiscard]] std::string describe_end(const RankSnapshot& rank);

/// "a put", "a barrier"; empty for a rank that is just running.
[[nodiscard]] std::string_view describe_activity(wire::Operation activity) noexcept;

}  // namespace baton::job
