#include "comm/health.hpp"

#include <sys/wait.h>

#include <fmt/format.h>

#include "base/liveness.hpp"
#include "base/process_stat.hpp"
#include "comm/wait_record.hpp"
#include "wire/names.hpp"

namespace baton::comm {
namespace {

/// After a rank's state changed: makes every waiter of the job look again.
void announce_change(wire::ControlHeader& control, FutexScope scope) {
  // Pairs with the loads in the waiters' tests: a rank that sees this number sees the new state.
  control.changes.fetch_add(1, std::memory_order_seq_cst);
  if (control.one_doorbell != 0) {
    control.doorbell.ring_always(scope);
    return;
  }
  for (std::uint32_t r = 0; r < control.rank_count; ++r) wire::rank_block(control, r).doorbell.ring_always(scope);
}

std::string describe_cause(const wire::RankBlock& block) {
  const std::uint64_t end = block.end.load(std::memory_order_relaxed);
  const auto value = static_cast<int>(end & 0xffffffffU);
  switch (static_cast<wire::EndKind>(end >> 32U)) {
    case wire::EndKind::signal: return describe_wait_status(W_EXITCODE(0, value));
    case wire::EndKind::exit_code: return describe_wait_status(W_EXITCODE(value, 0));
    case wire::EndKind::error: return "it threw an error";
    case wire::EndKind::unknown: break;
  }
  return "cause unknown";
}

/// The first line of `text`, or what fits of it.
void store_reason(wire::RankBlock& block, std::string_view text) noexcept {
  constexpr std::string_view kMore = " ...";
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() <= wire::kReasonBytes) return wire::store_text(block.reason, line);
  char cut[wire::kReasonBytes];
  line.copy(cut, sizeof cut - kMore.size());
  kMore.copy(cut + sizeof cut - kMore.size(), kMore.size());
  wire::store_text(block.reason, std::string_view(cut, sizeof cut));
}

}  // namespace

bool mark_dead(wire::ControlHeader& control, std::uint32_t rank, wire::EndKind kind, std::uint32_t value,
               FutexScope scope) {
  wire::RankBlock& block = wire::rank_block(control, rank);
  std::uint64_t no_end = 0;
  const std::uint64_t end = static_cast<std::uint64_t>(kind) << 32U | value;
  // Released by the exchange of the state below, or read late by a report that then says less.
  if (kind != wire::EndKind::unknown) block.end.compare_exchange_strong(no_end, end, std::memory_order_relaxed);
  std::int64_t not_ended = 0;
  block.ended_ns.compare_exchange_strong(not_ended, monotonic_ns(), std::memory_order_relaxed);
  auto live = static_cast<std::uint32_t>(wire::RankState::live);
  // Pairs with the acquire in state_of().
  const bool died = block.state.compare_exchange_strong(live, static_cast<std::uint32_t>(wire::RankState::dead),
                                                        std::memory_order_seq_cst);
  if (died) announce_change(control, scope);
  return died;
}

bool mark_failed(wire::ControlHeader& control, std::uint32_t rank, const FailureReason& reason, FutexScope scope) {
  // Released by the exchange of the state in mark_dead().
  store_reason(wire::rank_block(control, rank), reason.text);
  return mark_dead(control, rank, wire::EndKind::error, static_cast<std::uint32_t>(reason.code), scope);
}

void mark_ended(wire::ControlHeader& control, const RankEnd& end, FutexScope scope) {
  if (end.rank >= control.rank_count) return;
  if (end.state == wire::RankState::left) return mark_left(control, end.rank, scope);
  // Released by the exchange of the state in mark_dead(). A rank of this host wrote its own.
  if (!end.reason.empty() && !is_here(control, end.rank)) store_reason(wire::rank_block(control, end.rank), end.reason);
  mark_dead(control, end.rank, end.kind, end.value, scope);
}

void mark_left(wire::ControlHeader& control, std::uint32_t rank, FutexScope scope) {
  wire::RankBlock& block = wire::rank_block(control, rank);
  auto live = static_cast<std::uint32_t>(wire::RankState::live);
  // Sequentially consistent: two neighbours that leave at once must not both see the other alive (Attendant).
  if (block.state.compare_exchange_strong(live, static_cast<std::uint32_t>(wire::RankState::left),
                                          std::memory_order_seq_cst)) {
    announce_change(control, scope);
  }
}

wire::RankState state_of(const wire::ControlHeader& control, std::uint32_t rank) noexcept {
  // Pairs with the exchanges in mark_dead() and mark_left().
  return static_cast<wire::RankState>(wire::rank_block(control, rank).state.load(std::memory_order_seq_cst));
}

std::optional<std::uint32_t> first_death(const wire::ControlHeader& control,
                                         std::span<const std::uint32_t> ranks) noexcept {
  std::optional<std::uint32_t> first;
  const auto ended_ns = [&control](std::uint32_t rank) {
    return wire::rank_block(control, rank).ended_ns.load(std::memory_order_relaxed);
  };
  for (const std::uint32_t rank : ranks) {
    if (state_of(control, rank) != wire::RankState::dead) continue;
    if (!first || ended_ns(rank) < ended_ns(*first)) first = rank;
  }
  return first;
}

bool is_here(const wire::ControlHeader& control, std::uint32_t rank) noexcept {
  // Names are never empty; the first word decides.
  return wire::rank_block(control, rank).host.words[0].load(std::memory_order_relaxed) == 0;
}

bool lives_here(const wire::ControlHeader& control, std::uint32_t rank) noexcept {
  // The state first: who sees a live rank sees its host, too (enter_far_rank()).
  return state_of(control, rank) == wire::RankState::live && is_here(control, rank);
}

std::string describe_process(const wire::ControlHeader& control, std::uint32_t rank) {
  if (control.in_process != 0) return {};
  const wire::RankBlock& block = wire::rank_block(control, rank);
  const std::uint32_t pid = block.pid.load(std::memory_order_relaxed);
  if (is_here(control, rank)) return fmt::format("pid {}", pid);
  return fmt::format("pid {} on host {}", pid, wire::load_name(block.host));
}

std::string describe_end(const wire::ControlHeader& control, std::uint32_t rank) {
  const wire::RankBlock& block = wire::rank_block(control, rank);
  const bool threw =
      static_cast<wire::EndKind>(block.end.load(std::memory_order_relaxed) >> 32U) == wire::EndKind::error;
  if (const std::string reason = wire::load_text(block.reason); !reason.empty())
    return threw || is_here(control, rank) ? "it threw " + reason : reason;
  std::string text = describe_cause(block);
  if (const auto waits = read_waits(block); !waits.empty())
    return text + " while it waited for " + describe(waits.front());
  switch (static_cast<wire::Operation>(block.activity.load(std::memory_order_relaxed))) {
    case wire::Operation::allocating: return text + " while it allocated a window";
    case wire::Operation::putting: return text + " during or after a put";
    case wire::Operation::getting: return text + " during or after a get";
    case wire::Operation::notifying: return text + " after a notify";
    case wire::Operation::waiting: return text + " during or after a wait";
    case wire::Operation::in_barrier: return text + " during or after a barrier";
    case wire::Operation::releasing: return text + " while it released a window";
    case wire::Operation::leaving: return text + " while it left";
    case wire::Operation::in_collective: return text + " during or after a collective or message";
    case wire::Operation::none:
    case wire::Operation::running:
    case wire::Operation::joining: break;
  }
  return text;
}

std::string describe_activity(const wire::ControlHeader& control, std::uint32_t rank) {
  const wire::RankBlock& block = wire::rank_block(control, rank);
  switch (state_of(control, rank)) {
    case wire::RankState::absent: return "has not joined";
    case wire::RankState::left: return "has left";
    case wire::RankState::dead: return "died: " + describe_end(control, rank);
    case wire::RankState::live: break;
  }
  std::string stopped;
  if (!is_here(control, rank)) return "is running, as far as this host knows";
  if (control.in_process == 0) {
    const auto stat = read_process_stat(block.pid.load(std::memory_order_relaxed));
    if (stat && (stat->state == 'T' || stat->state == 't')) stopped = " (its process is stopped)";
  }
  if (const auto waits = read_waits(block); !waits.empty()) {
    return fmt::format("has waited for {} for {}{}", describe(waits.front()),
                       describe_duration(monotonic_ns() - waits.front().since_ns), stopped);
  }
  return "is running" + stopped;
}

}  // namespace baton::comm
