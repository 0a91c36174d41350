#include "comm/backends/ucx/ucx_path.hpp"

#include <utility>

#include "base/log.hpp"

namespace baton::ucx {

UcxPath::UcxPath(std::unique_ptr<UcxWorker> worker, PathPlace place, std::vector<PeerRecord> peers)
    : ucx_(ucx_library()),
      worker_(std::move(worker)),
      introduction_(place.rank),
      place_(std::move(place)),
      parking_{&wire::doorbell_of(place_.control, place_.rank), place_.scope,
               place_.control.ranks_here <= place_.control.processors ? Crowding::spare : Crowding::crowded,
               /*gives_way_to_strangers=*/false, this},
      delivery_(place_.control, place_.rank, place_.scope),
      receiver_{place_.rank, place_.control.rank_count, peers[place_.rank].pass},
      alarm_(worker_->event_fd()),
      peers_(peers.size()) {
  for (std::size_t rank = 0; rank < peers.size(); ++rank) {
    peers_[rank].path = this;
    if (host_of(static_cast<std::uint32_t>(rank)) != host_of(place_.rank)) introduction_.add(peers[rank].gate);
    peers_[rank].record = std::move(peers[rank]);
  }
  worker_->receive(kMessageNumber, &UcxPath::on_message, this);
  worker_->accept_with(&UcxPath::on_connection, this);
}

UcxPath::~UcxPath() {
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) disconnect(peer);
  for (const Accepted& accepted : accepted_) close(accepted.endpoint);
  accepted_.clear();
  const Deadline deadline = Deadline::after(kReturnTime);
  while (!closing_.empty() && !deadline.passed()) work();
  worker_->receive(kMessageNumber, nullptr, nullptr);
  worker_->accept_with(nullptr, nullptr);
  bool is_unused = closing_.empty();
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    const bool may_connect = host_of(rank) != host_of(place_.rank) && !is_gone(rank);
    is_unused = is_unused && !may_connect && peers_[rank].endpoint == nullptr;
  }
  if (is_unused) return;
  set_aside(std::move(worker_));
  // What is on its way to a rank that never answered ends with the worker.
  for (auto& sending : own_) static_cast<void>(sending.release());
}

void UcxPath::ring() noexcept { wire::doorbell_of(place_.control, place_.rank).ring(place_.scope); }

bool UcxPath::work() noexcept {
  disconnect_gone();
  bool any = worker_->progress();
  if (accepted_failed_) [[unlikely]]
    close_failed();
  try {
    if (!met_.empty()) send_unsent();
    if (!waiting_.empty()) any = deal_with_held() || any;
    for (auto& [rank, sending] : std::exchange(outbox_, {})) {
      static_cast<void>(start_own(rank, std::move(sending)));
      any = true;
    }
  } catch (const std::exception& error) {
    log::warn("rank {} lost a message of another host: {}", place_.rank, error.what());
  }
  own_.remove_if([](const std::unique_ptr<Sending>& sending) { return sending->done.load(std::memory_order_relaxed); });
  std::erase_if(closing_, [this](ucs_status_ptr_t request) {
    if (ucx_.ucp_request_check_status(request) == UCS_INPROGRESS) return false;
    ucx_.ucp_request_free(request);
    return true;
  });
  return any;
}

void UcxPath::progress() noexcept {
  turns_.look();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  // Relaxed: who misses it pays in the next round.
  if (debts_are_due_.load(std::memory_order_relaxed)) [[unlikely]] {
    debts_are_due_.store(false, std::memory_order_relaxed);
    pay_old_debts();
  }
  // One round: what came may be what the caller waits for, and asking UCX for more is a call of the system.
  constexpr std::uint32_t kMostWakes = 4;
  if (work() && turns_.disarms(kMostWakes)) [[unlikely]] {
    alarm_.disarm();
    alarm_.poke();
  }
}

bool UcxPath::work_off() noexcept {
  constexpr int kMostRounds = 1024;
  for (int round = 0; round < kMostRounds; ++round) {
    if (!work()) return true;
  }
  return false;
}

bool UcxPath::settle() noexcept {
  // UCX is armed when it has nothing left to tell.
  if (!work_off() || !worker_->arm()) return false;
  alarm_.arm();
  return true;
}

std::chrono::milliseconds UcxPath::take_turn(Alarm::Cause cause) noexcept {
  // UCX looks after connections of its own now and then.
  constexpr std::chrono::milliseconds kLongestSleep{1000};
  constexpr std::chrono::milliseconds kLease{1};
  constexpr std::chrono::milliseconds kNone{0};
  worker_->send_away_late();
  const bool time_passed = cause == Alarm::Cause::time_passed;
  const bool rests_on = time_passed && turns_.rests_on();
  // One that it misses was made by a message that came just now.
  const bool owes = has_debts_.load(std::memory_order_relaxed);
  if (rests_on && !owes) return kLease;
  std::unique_lock lock(mutex_, std::try_to_lock);
  // A thread that looks takes the lock again and again, and would have to wake this one each time: for nothing.
  if (!lock && (rests_on || (cause != Alarm::Cause::went_off && turns_.others_look()))) {
    if (owes) debts_are_due_.store(true, std::memory_order_relaxed);
    return kLease;
  }
  if (!lock) lock.lock();
  const bool has_paid = pay_old_debts();
  if (has_paid || (time_passed && !rests_on)) work();
  if (rests_on) return kLease;
  const auto work_all = [this] { work_off(); };
  switch (turns_.take(cause == Alarm::Cause::went_off, work_all, [this] { return settle(); })) {
    case Next::rest: return kLease;
    case Next::sleep: return has_debts_.load(std::memory_order_relaxed) ? kLease : kLongestSleep;
    case Next::again: break;
  }
  return kNone;
}

void UcxPath::begin_looking() noexcept {
  const std::lock_guard lock(mutex_);
  if (!turns_.begin_sleep([this] { return settle(); })) alarm_.poke();
}

void UcxPath::end_looking() noexcept { turns_.end_sleep(); }

}  // namespace baton::ucx
