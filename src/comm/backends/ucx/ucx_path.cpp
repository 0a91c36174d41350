#include "comm/backends/ucx/ucx_path.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/health.hpp"
#include "comm/wait_record.hpp"

namespace baton::ucx {
namespace {

constexpr unsigned kMessageNumber = 1;

/// A connection ends when the rank at its other end does, and the news of that may come later than the end of the
/// connection.
constexpr std::chrono::seconds kNewsTime{3};
/// UCX gives memory back soon after a connection was closed by force.
constexpr std::chrono::seconds kReturnTime{5};

}  // namespace

UcxPath::UcxPath(std::unique_ptr<UcxWorker> worker, PathPlace place, std::vector<PeerRecord> peers)
    : ucx_(ucx_library()),
      worker_(std::move(worker)),
      place_(std::move(place)),
      parking_{&wire::doorbell_of(place_.control, place_.rank), place_.scope,
               place_.control.ranks_here <= place_.control.processors ? Crowding::spare : Crowding::crowded},
      delivery_(place_.control, place_.rank, place_.scope),
      receiver_{place_.rank, place_.control.rank_count, peers[place_.rank].pass},
      peers_(peers.size()) {
  for (std::size_t rank = 0; rank < peers.size(); ++rank) peers_[rank].record = std::move(peers[rank]);
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

wire::PathHeader UcxPath::header_for(wire::PathKind kind, std::uint32_t rank) const noexcept {
  wire::PathHeader header{};
  header.magic = wire::kPathMagic;
  header.version = wire::kPathVersion;
  header.kind = kind;
  header.source = place_.rank;
  header.pass = peers_[rank].record.pass;
  return header;
}

std::string UcxPath::describe(std::uint32_t rank) const {
  return fmt::format("rank {} ({})", rank, comm::describe_process(place_.control, rank));
}

bool UcxPath::is_gone(std::uint32_t rank) const noexcept {
  const wire::RankState state = comm::state_of(place_.control, rank);
  return state == wire::RankState::left || state == wire::RankState::dead;
}

void UcxPath::ring() noexcept { wire::doorbell_of(place_.control, place_.rank).ring(place_.scope); }

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
  auto& failed = *static_cast<Peer*>(peer);
  failed.failure = status;
  // Pairs with the loads of those who wait for something of this peer: they see why.
  failed.failed.store(true, std::memory_order_seq_cst);
}

void UcxPath::on_connection(ucp_conn_request_h request, void* path) {
  auto& self = *static_cast<UcxPath*>(path);
  // Every rank of another host connects once. Who does not know the pass is not heard, but takes a place until it goes.
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

void UcxPath::on_accepted_failure(void* path, ucp_ep_h endpoint, ucs_status_t /*status*/) {
  auto& self = *static_cast<UcxPath*>(path);
  for (Accepted& accepted : self.accepted_) {
    if (accepted.endpoint == endpoint) accepted.failed = self.accepted_failed_ = true;
  }
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

bool UcxPath::start(std::uint32_t rank, Sending& sending) {
  Peer& peer = peers_[rank];
  if (is_gone(rank) || peer.failed.load(std::memory_order_relaxed) || !connect(peer, rank)) return false;
  sending.path = this;
  if (sending.header.kind != wire::PathKind::applied) sending.header.sequence = ++peer.sent;
  sending.header.applied = peer.done_here;
  if (sending.header.kind == wire::PathKind::put) peer.last_put = peer.sent;
  if (sending.header.kind == wire::PathKind::post) peer.posts.push_back(peer.sent);
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = &UcxPath::on_sent;
  param.user_data = &sending;
  ucs_status_ptr_t request = ucx_.ucp_am_send_nbx(peer.endpoint, kMessageNumber, &sending.header, sizeof sending.header,
                                                  sending.payload, sending.header.bytes, &param);
  if (UCS_PTR_IS_PTR(request)) return true;
  on_sent(nullptr, UCS_PTR_STATUS(request), &sending);
  return true;
}

void UcxPath::on_sent(void* request, ucs_status_t status, void* sending) {
  auto& sent = *static_cast<Sending*>(sending);
  UcxPath& path = *sent.path;
  if (request != nullptr) path.ucx_.ucp_request_free(request);
  sent.status = status;
  // Pairs with the load in send(): what it waits for does not touch the payload any more. Sequentially consistent
  // because the doorbell is rung after it.
  sent.done.store(true, std::memory_order_seq_cst);
  if (!sent.is_its_own) path.ring();
}

bool UcxPath::start_own(std::uint32_t rank, std::unique_ptr<Sending> sending) {
  Peer& peer = peers_[rank];
  const bool is_first = peer.sent == 0 && sending->header.kind == wire::PathKind::flush;
  const bool at_once = is_first || sending->header.kind == wire::PathKind::applied;
  if (!at_once && !ask(rank)) return false;
  sending->is_its_own = true;
  own_.push_back(std::move(sending));
  if (!at_once && !is_known(peer)) {
    peer.unsent.push_back(own_.back().get());
    return true;
  }
  if (start(rank, *own_.back())) return true;
  own_.pop_back();
  return false;
}

bool UcxPath::ask(std::uint32_t rank) {
  const Peer& peer = peers_[rank];
  if (is_gone(rank) || peer.failed.load(std::memory_order_relaxed)) return false;
  if (peer.sent != 0) return true;
  auto question = std::make_unique<Sending>();
  question->header = header_for(wire::PathKind::flush, rank);
  return start_own(rank, std::move(question));
}

void UcxPath::send_unsent() noexcept {
  for (const std::uint32_t rank : std::exchange(met_, {})) {
    for (Sending* sending : std::exchange(peers_[rank].unsent, {})) {
      // Without the peer there is nobody to see it.
      if (!start(rank, *sending)) drop_unsent(*sending);
    }
  }
}

void UcxPath::drop_unsent(Sending& sending) noexcept {
  if (sending.header.kind == wire::PathKind::post) note_posts_done(1);
  sending.done.store(true, std::memory_order_relaxed);  // own_ forgets it
}

void UcxPath::count_posts_done(Peer& peer, std::uint64_t up_to) noexcept {
  std::uint64_t done = 0;
  for (; !peer.posts.empty() && peer.posts.front() <= up_to; ++done) peer.posts.pop_front();
  if (done != 0) note_posts_done(done);
}

void UcxPath::note_posts_done(std::uint64_t done) noexcept {
  wire::RankBlock& block = wire::rank_block(place_.control, place_.rank);
  // Pairs with the load in posts_are_done(); sequentially consistent because doorbells are rung after it.
  const std::uint64_t all_done = block.posts_done.fetch_add(done, std::memory_order_seq_cst) + done;
  if (all_done != block.posts.load(std::memory_order_relaxed)) return;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (host_of(rank) == host_of(place_.rank)) wire::doorbell_of(place_.control, rank).ring(place_.scope);
  }
}

bool UcxPath::posts_are_done() const noexcept {
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (host_of(rank) != host_of(place_.rank) || is_gone(rank)) continue;
    const wire::RankBlock& block = wire::rank_block(place_.control, rank);
    // Done first: a post that is begun between the loads was not awaited by anybody.
    const std::uint64_t done = block.posts_done.load(std::memory_order_seq_cst);
    if (done < block.posts.load(std::memory_order_seq_cst)) return false;
  }
  return true;
}

void UcxPath::disconnect(Peer& peer) noexcept {
  peer.failed.store(true, std::memory_order_seq_cst);
  if (peer.endpoint == nullptr || peer.done_there.load(std::memory_order_relaxed) == 0) return;
  close(std::exchange(peer.endpoint, nullptr));
}

void UcxPath::disconnect_gone() noexcept {
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
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  constexpr int kMostRounds = 64;
  for (int round = 0; round < kMostRounds && work(); ++round) {
  }
}

bool UcxPath::settle() noexcept {
  constexpr int kMostRounds = 1024;
  const std::lock_guard lock(mutex_);
  for (int round = 0; round < kMostRounds; ++round) {
    if (!work()) return worker_->arm();
  }
  return false;
}

template <class IsOver>
void UcxPath::abandon(std::uint32_t rank, const IsOver& is_over) noexcept {
  const std::lock_guard lock(mutex_);
  disconnect(peers_[rank]);
  const Deadline deadline = Deadline::after(kReturnTime);
  while (!is_over() && !deadline.passed()) work();
  if (!is_over()) log::warn("UCX did not give back memory that was on its way to {}", describe(rank));
}

void UcxPath::settle_loss(std::uint32_t rank, const char* what) {
  const auto news = [&] {
    progress();
    return is_gone(rank);
  };
  const bool known = wait_until(parking_, news, Deadline::after(kNewsTime), [] {});
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

bool UcxPath::make_acquaintance(std::uint32_t rank, const char* what, const Deadline& deadline) {
  Peer& peer = peers_[rank];
  bool started = false;
  {
    const std::lock_guard lock(mutex_);
    started = ask(rank);
  }
  const auto is_over = [&] {
    progress();
    return peer.done_there.load(std::memory_order_seq_cst) != 0 || is_gone(rank) ||
           peer.failed.load(std::memory_order_seq_cst);
  };
  if (started && !is_over() && !wait_until(parking_, is_over, deadline, [] {})) throw_timeout(rank, what, 0);
  if (peer.done_there.load(std::memory_order_seq_cst) != 0) return true;
  settle_loss(rank, what);
  return false;
}

bool UcxPath::send(std::uint32_t rank, Sending& sending, const char* what, const Deadline& deadline) {
  const bool known = peers_[rank].done_there.load(std::memory_order_seq_cst) != 0;
  if (!known && !make_acquaintance(rank, what, deadline)) return false;
  bool started = false;
  {
    const std::lock_guard lock(mutex_);
    started = start(rank, sending);
  }
  if (!started) {
    settle_loss(rank, what);
    return false;
  }
  Peer& peer = peers_[rank];
  const auto is_done = [&] { return sending.done.load(std::memory_order_seq_cst); };
  const auto is_over = [&] {
    if (is_done()) return true;
    progress();
    return is_done() || is_gone(rank) || peer.failed.load(std::memory_order_seq_cst);
  };
  const bool in_time = is_over() || wait_until(parking_, is_over, deadline, [] {});
  if (is_done() && sending.status == UCS_OK) [[likely]]
    return true;
  if (!is_done()) abandon(rank, is_done);
  if (!in_time) throw_timeout(rank, what, sending.header.bytes);
  settle_loss(rank, what);
  return false;
}

void UcxPath::put(const comm::FarPlace& to, const void* source, std::size_t bytes, const comm::FarSignal& signal,
                  const Deadline& deadline) {
  if (bytes == 0 && signal.change == wire::SignalChange::none) return;
  Sending sending;
  sending.header = header_for(wire::PathKind::put, to.rank);
  sending.header.window = to.window;
  sending.header.offset = to.offset;
  sending.header.bytes = bytes;
  sending.header.change = signal.change;
  sending.header.signals = signal.window;
  sending.header.signal_offset = signal.offset;
  sending.header.value = signal.value;
  sending.payload = source;
  static_cast<void>(send(to.rank, sending, bytes == 0 ? "a notify" : "a put", deadline));
}

void UcxPath::get(const comm::FarPlace& from, void* target, std::size_t bytes, const Deadline& deadline) {
  if (bytes == 0) return;
  auto getting = std::make_shared<Getting>();
  getting->target = static_cast<std::byte*>(target);
  getting->bytes = bytes;
  Sending sending;
  sending.header = header_for(wire::PathKind::get, from.rank);
  sending.header.window = from.window;
  sending.header.offset = from.offset;
  sending.header.value = static_cast<std::int64_t>(bytes);
  {
    const std::lock_guard lock(mutex_);
    sending.header.request = next_get_++;
    gets_[sending.header.request] = getting;
  }
  const auto is_done = [&] { return getting->done.load(std::memory_order_seq_cst); };
  // The memory is the caller's again, however this ends.
  const auto take_back = [&] {
    bool arrives = false;
    {
      const std::lock_guard lock(mutex_);
      arrives = getting->arrives;
      if (!arrives) gets_.erase(sending.header.request);
    }
    if (arrives && !is_done()) abandon(from.rank, is_done);
  };
  try {
    Peer& peer = peers_[from.rank];
    const bool sent = send(from.rank, sending, "a get", deadline);
    const auto is_over = [&] {
      if (is_done()) return true;
      progress();
      return is_done() || is_gone(from.rank) || peer.failed.load(std::memory_order_seq_cst);
    };
    const bool in_time = sent && (is_over() || wait_until(parking_, is_over, deadline, [] {}));
    if (!is_done()) {
      if (sent && !in_time) throw_timeout(from.rank, "a get", bytes);
      settle_loss(from.rank, "a get");
      fail(Code::peer_left, "rank {} wanted {} bytes of {}, which has left", place_.rank, bytes, describe(from.rank));
    }
  } catch (...) {
    take_back();
    throw;
  }
  if (getting->refused) {
    fail(Code::released, "rank {} wanted {} bytes of a window that {} has released", place_.rank, bytes,
         describe(from.rank));
  }
}

void UcxPath::post(std::uint32_t rank, wire::AllocationKey topic, std::span<const std::byte> bytes) {
  auto sending = std::make_unique<Sending>();
  sending->header = header_for(wire::PathKind::post, rank);
  sending->header.window = topic;
  sending->header.bytes = bytes.size();
  sending->copy.assign(bytes.begin(), bytes.end());
  sending->payload = sending->copy.data();
  const std::lock_guard lock(mutex_);
  // Before it can be done; those who load it pass a barrier after this.
  wire::RankBlock& block = wire::rank_block(place_.control, place_.rank);
  block.posts.fetch_add(1, std::memory_order_seq_cst);
  if (!start_own(rank, std::move(sending))) block.posts_done.fetch_add(1, std::memory_order_seq_cst);
}

bool UcxPath::flush(comm::Flushed what, const Deadline& deadline) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> awaited;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
      Peer& peer = peers_[rank];
      if (peer.done_there.load(std::memory_order_relaxed) >= peer.last_put) continue;
      awaited.emplace_back(rank, peer.last_put);
      auto sending = std::make_unique<Sending>();
      sending->header = header_for(wire::PathKind::flush, rank);
      static_cast<void>(start_own(rank, std::move(sending)));
    }
  }
  const auto is_settled = [&](const std::pair<std::uint32_t, std::uint64_t>& one) {
    const Peer& peer = peers_[one.first];
    return peer.done_there.load(std::memory_order_seq_cst) >= one.second || is_gone(one.first) ||
           peer.failed.load(std::memory_order_seq_cst);
  };
  const auto all_settled = [&] {
    progress();
    return std::all_of(awaited.begin(), awaited.end(), is_settled) && (what == comm::Flushed::puts || posts_are_done());
  };
  return (awaited.empty() && what == comm::Flushed::puts) || all_settled() ||
         wait_until(parking_, all_settled, deadline, [] {});
}

}  // namespace baton::ucx
