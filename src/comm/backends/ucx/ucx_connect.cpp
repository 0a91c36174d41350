// How a rank connects to the ranks of other hosts, and ends that.
#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/backends/ucx/ucx_path.hpp"

namespace baton::ucx {

bool UcxPath::connect(Peer& peer, std::uint32_t rank) {
  if (peer.endpoint != nullptr) return true;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  // By an address of the worker UCX would meet the peer in steps of its own, and crashes if that ends in their middle.
  params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  params.sockaddr = {reinterpret_cast<const sockaddr*>(peer.record.address.data()),
                     static_cast<socklen_t>(peer.record.address.size())};
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {&UcxPath::on_failure, &peer};
  const ucs_status_t status = ucx_.ucp_ep_create(worker_->get(), &params, &peer.endpoint);
  if (status == UCS_OK) return true;
  peer.endpoint = nullptr;
  on_failure(&peer, nullptr, status);
  log::debug("no path to rank {}: {}", rank, ucx_.ucs_status_string(status));
  return false;
}

void UcxPath::on_failure(void* peer, ucp_ep_h /*endpoint*/, ucs_status_t status) {
  const CalledByUcx ours;
  auto& failed = *static_cast<Peer*>(peer);
  failed.failure = status;
  // Pairs with the loads in is_lost(): a thread that waits for this peer sees why it failed.
  failed.failed.store(true, std::memory_order_seq_cst);
  failed.path->ring();
}

void UcxPath::on_connection(ucp_conn_request_h request, void* path) {
  const CalledByUcx ours;
  auto& self = *static_cast<UcxPath*>(path);
  // Every rank of another host connects once. One that does not know the pass is not heard, but takes a place until it
  // goes.
  constexpr std::size_t kSpare = 64;
  if (self.accepted_.size() >= self.peers_.size() + kSpare) return self.worker_->refuse(request);
  Accepted& accepted = self.accepted_.emplace_back();
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_CONN_REQUEST | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.conn_request = request;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {&UcxPath::on_accepted_failure, path};
  const ucs_status_t status = self.ucx_.ucp_ep_create(self.worker_->get(), &params, &accepted.endpoint);
  if (status == UCS_OK) return;
  log::debug("a connection of another host was not taken: {}", self.ucx_.ucs_status_string(status));
  self.accepted_.pop_back();
}

void UcxPath::on_accepted_failure(void* path, ucp_ep_h endpoint, ucs_status_t status) {
  const CalledByUcx ours;
  auto& self = *static_cast<UcxPath*>(path);
  for (Accepted& accepted : self.accepted_) {
    if (accepted.endpoint == endpoint) accepted.failed = self.accepted_failed_ = true;
  }
  for (Peer& peer : self.peers_) {
    if (peer.endpoint == endpoint) on_failure(&peer, endpoint, status);
    if (peer.offered == endpoint) peer.offered = nullptr;
  }
}

void UcxPath::note_offer(Peer& peer, ucp_ep_h endpoint) noexcept {
  const auto is_it = [endpoint](const Accepted& accepted) { return accepted.endpoint == endpoint && !accepted.failed; };
  if (std::any_of(accepted_.begin(), accepted_.end(), is_it)) peer.offered = endpoint;
}

void UcxPath::share_connection(Peer& peer) noexcept {
  if (!is_known(peer)) return;
  accepted_.remove_if([&](const Accepted& accepted) { return accepted.endpoint == peer.offered; });
  peer.spare = std::exchange(peer.endpoint, std::exchange(peer.offered, nullptr));
}

void UcxPath::close(ucp_ep_h endpoint) noexcept {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  ucs_status_ptr_t request = ucx_.ucp_ep_close_nbx(endpoint, &param);
  if (UCS_PTR_IS_PTR(request)) closing_.push_back(request);
}

void UcxPath::close_failed() noexcept {
  accepted_failed_ = false;
  accepted_.remove_if([this](const Accepted& accepted) {
    if (accepted.failed) close(accepted.endpoint);
    return accepted.failed;
  });
}

void UcxPath::disconnect(Peer& peer) noexcept {
  // Pairs with the loads in is_lost(): a thread that waits for this peer stops waiting.
  peer.failed.store(true, std::memory_order_seq_cst);
  if (peer.endpoint == nullptr || peer.done_there.load(std::memory_order_relaxed) == 0) return;
  close(std::exchange(peer.endpoint, nullptr));
  if (peer.spare != nullptr) close(std::exchange(peer.spare, nullptr));
}

void UcxPath::disconnect_gone() noexcept {
  // Pairs with the increment in announce_change(): a thread that sees it sees the state of the rank that ended.
  const std::uint32_t changes = place_.control.changes.load(std::memory_order_acquire);
  if (changes == changes_seen_) [[likely]]
    return;
  changes_seen_ = changes;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    if ((peer.endpoint == nullptr && peer.posts.empty()) || !is_gone(rank)) continue;
    disconnect(peer);
    count_posts_done(peer, UINT64_MAX);
    for (Sending* sending : std::exchange(peer.unsent, {})) drop_unsent(*sending);
  }
}

bool UcxPath::ask(std::uint32_t rank) {
  const Peer& peer = peers_[rank];
  if (is_gone(rank) || peer.failed.load(std::memory_order_relaxed)) return false;
  if (peer.sent != 0) return true;
  peers_[rank].asked_at = Deadline::Clock::now();
  auto question = std::make_unique<Sending>();
  question->header = header_for(wire::PathKind::flush, rank);
  return start_own(rank, std::move(question));
}

bool UcxPath::make_acquaintance(std::uint32_t rank, const char* what, const Deadline& deadline) {
  const Peer& peer = peers_[rank];
  bool started = false;
  {
    const std::lock_guard lock(mutex_);
    started = ask(rank);
  }
  // Pairs with the store in take(); sequentially consistent because it is tested before sleeping.
  const auto has_answered = [&] { return peer.done_there.load(std::memory_order_seq_cst) != 0; };
  const auto is_over = [&] {
    progress();
    return has_answered() || is_lost(rank);
  };
  if (started && !is_over() && !wait_until(parking_, is_over, deadline, [] {}))
    fail(Code::wait_timeout, "rank {}: {} did not reach {} in time: {}", place_.rank, what, describe(rank),
         trouble_with(rank));
  if (has_answered()) return true;
  settle_loss(rank, what);
  return false;
}

}  // namespace baton::ucx
