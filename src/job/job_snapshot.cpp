#include "job/job_snapshot.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "job/job_picture.hpp"
#include "wire/names.hpp"

namespace baton::job {
namespace {

template <class Enum>
Enum in_range(std::uint32_t value, Enum last, Enum otherwise) {
  return value <= static_cast<std::uint32_t>(last) ? static_cast<Enum>(value) : otherwise;
}

}  // namespace

RankSnapshot describe_rank(const wire::RankBlock& block, std::uint32_t rank) {
  RankSnapshot out{};
  out.rank = rank;
  // Pairs with the stores that make a rank live, let it leave or note its death: a reader that sees the state sees the
  // pid, or the end, that belongs to it.
  out.state = in_range(block.state.load(std::memory_order_acquire), wire::RankState::dead, wire::RankState::absent);
  out.process = {.pid = block.pid.load(std::memory_order_relaxed),
                 .start_time = block.start_time.load(std::memory_order_relaxed)};
  out.host = wire::load_name(block.host);
  const std::uint64_t end = block.end.load(std::memory_order_relaxed);
  out.end_kind = in_range(static_cast<std::uint32_t>(end >> 32), wire::EndKind::error, wire::EndKind::unknown);
  out.end_value = static_cast<std::uint32_t>(end);
  out.reason = wire::load_text(block.reason);
  out.ended_ns = block.ended_ns.load(std::memory_order_relaxed);
  out.activity = in_range(block.activity.load(std::memory_order_relaxed), wire::kLastOperation, wire::Operation::none);
  if (auto waits = comm::read_waits(block); !waits.empty()) out.wait = std::move(waits.front());
  return out;
}

JobSnapshot describe_control(std::span<const std::byte> segment) {
  const void* memory = segment.data();
  if (reinterpret_cast<std::uintptr_t>(memory) % alignof(wire::ControlHeader) != 0) {
    fail(Code::protocol, "a control segment must start at a multiple of {} bytes", alignof(wire::ControlHeader));
  }
  if (const char* defect = wire::control_defect(memory, segment.size())) {
    fail(Code::protocol, "a control segment of {} bytes cannot be read: {}", segment.size(), defect);
  }
  const auto& header = *static_cast<const wire::ControlHeader*>(memory);
  JobSnapshot out{};
  out.name = wire::load_name(header.name);
  std::copy(std::begin(header.token), std::end(header.token), out.token.begin());
  out.created_ns = header.created_ns;
  out.in_process = header.in_process != 0;
  out.ranks_here = header.ranks_here;
  // Held against the real size once more: the header may have changed since the check.
  const std::size_t claimed = header.rank_count;
  const std::size_t room = (segment.size() - sizeof(wire::ControlHeader)) / sizeof(wire::RankBlock);
  const auto count = static_cast<std::uint32_t>(std::min(claimed, room));
  out.ranks.reserve(count);
  const comm::ControlView view = view_of(header, segment.size());
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    out.ranks.push_back(describe_rank(wire::rank_block(header, rank), rank));
    if (rank >= view.processes.size()) continue;
    const auto seen = static_cast<std::uint32_t>(view.processes[rank].load(std::memory_order_relaxed));
    out.ranks.back().seen = in_range(seen, comm::ProcessSeen::silent, comm::ProcessSeen::nothing);
  }
  return out;
}

std::string describe_end(const RankSnapshot& rank) {
  switch (rank.end_kind) {
    case wire::EndKind::signal: return describe_wait_status(static_cast<int>(rank.end_value & 0x7f));
    case wire::EndKind::exit_code: return fmt::format("exit code {}", rank.end_value & 0xff);
    case wire::EndKind::error: return rank.reason.empty() ? "it threw an error" : "it threw " + rank.reason;
    case wire::EndKind::unknown: break;
  }
  return rank.reason.empty() ? "cause unknown" : rank.reason;
}

std::string_view describe_activity(wire::Operation activity) noexcept {
  switch (activity) {
    case wire::Operation::joining: return "joining";
    case wire::Operation::allocating: return "allocating a window";
    case wire::Operation::putting: return "a put";
    case wire::Operation::getting: return "a get";
    case wire::Operation::notifying: return "a notify";
    case wire::Operation::waiting: return "a wait";
    case wire::Operation::in_barrier: return "a barrier";
    case wire::Operation::releasing: return "releasing a window";
    case wire::Operation::leaving: return "leaving";
    case wire::Operation::in_collective: return "a collective or message";
    case wire::Operation::none:
    case wire::Operation::running: break;
  }
  return {};
}

}  // namespace baton::job
