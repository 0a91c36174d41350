// What becomes of messages that did not reach their rank.
#include <numeric>
#include <thread>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/backends/ucx/ucx_path.hpp"
#include "comm/health.hpp"
#include "comm/wait_record.hpp"

namespace baton::ucx {

std::string UcxPath::describe(std::uint32_t rank) const {
  return fmt::format("rank {} ({})", rank, comm::describe_process(place_.control, rank));
}

std::string UcxPath::trouble_with(std::uint32_t rank) const {
  const std::lock_guard lock(mutex_);
  const Peer& peer = peers_[rank];
  if (peer.asked_at == Deadline::Clock::time_point{} || is_known(peer) || is_gone(rank)) return {};
  const std::string where = describe_address(peer.record.address);
  if (peer.failed.load(std::memory_order_relaxed))
    return fmt::format("rank {} could not connect to it at {} ({})", place_.rank, where,
                       ucx_.ucs_status_string(peer.failure));
  return fmt::format(
      "rank {} asked it at {} {} ago and had no answer: a firewall may drop what goes there, unless the rank is "
      "stopped",
      place_.rank, where, comm::describe_duration((Deadline::Clock::now() - peer.asked_at).count()));
}

bool UcxPath::is_gone(std::uint32_t rank) const noexcept {
  const wire::RankState state = comm::state_of(place_.control, rank);
  return state == wire::RankState::left || state == wire::RankState::dead;
}

bool UcxPath::is_lost(std::uint32_t rank) const noexcept {
  // Pairs with the stores in on_failure() and disconnect(); sequentially consistent because it is tested before
  // sleeping.
  return is_gone(rank) || peers_[rank].failed.load(std::memory_order_seq_cst);
}

void UcxPath::let_end(std::uint32_t rank, FunctionRef<bool()> is_over) noexcept {
  const Deadline deadline = Deadline::after(kArrivalTime);
  while (!is_over() && !is_lost(rank) && !deadline.passed()) {
    progress();
    std::this_thread::yield();
  }
}

void UcxPath::abandon(std::uint32_t rank, FunctionRef<bool()> is_over) noexcept {
  const std::lock_guard lock(mutex_);
  disconnect(peers_[rank]);
  const Deadline deadline = Deadline::after(kReturnTime);
  while (!is_over() && !deadline.passed()) work();
  if (!is_over()) log::warn("UCX did not give back memory that was on its way to {}", describe(rank));
}

void UcxPath::settle_loss(std::uint32_t rank, const char* what, const Deadline& news) {
  const auto is_known = [&] {
    progress();
    return is_gone(rank);
  };
  const bool known = is_known() || wait_until(parking_, is_known, news, [] {});
  const wire::RankState state = comm::state_of(place_.control, rank);
  if (known && state == wire::RankState::left) return;
  if (known) {
    std::vector<std::uint32_t> all(peers_.size());
    std::iota(all.begin(), all.end(), 0U);
    const std::uint32_t first = comm::first_death(place_.control, all).value_or(rank);
    std::vector<std::string> notes;
    for (const std::uint32_t dead : {first, rank}) {
      if (!notes.empty() && dead == first) continue;
      notes.push_back(fmt::format("{} died: {}", describe(dead), comm::describe_end(place_.control, dead)));
    }
    throw Error(Code::peer_died,
                first == rank
                    ? fmt::format("rank {}: {} did not reach {}, which died", place_.rank, what, describe(rank))
                    : fmt::format("rank {}: {} did not reach {}, which ended after rank {} had died", place_.rank, what,
                                  describe(rank), first),
                std::move(notes));
  }
  fail(Code::peer_died, "rank {}: {} did not reach {}: the connection broke ({})", place_.rank, what, describe(rank),
       ucx_.ucs_status_string(peers_[rank].failure));
}

void UcxPath::throw_timeout(std::uint32_t rank, const char* what, std::size_t bytes) const {
  fail(Code::wait_timeout, "rank {}: {} of {} bytes did not reach {} in time; nothing more can be sent there",
       place_.rank, what, bytes, describe(rank));
}

}  // namespace baton::ucx
