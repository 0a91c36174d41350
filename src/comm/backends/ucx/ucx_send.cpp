// What a rank sends to ranks of other hosts.
#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "comm/backends/ucx/ucx_transfer.hpp"

namespace baton::ucx {

wire::PathHeader UcxPath::header_for(wire::PathKind kind, std::uint32_t rank) const noexcept {
  wire::PathHeader header{};
  header.magic = wire::kPathMagic;
  header.version = wire::kPathVersion;
  header.kind = kind;
  header.source = place_.rank;
  header.pass = peers_[rank].record.pass;
  return header;
}

wire::PathHeader UcxPath::put_header(const comm::FarPlace& to, std::size_t bytes,
                                     const comm::FarSignal& signal) const noexcept {
  wire::PathHeader header = header_for(wire::PathKind::put, to.rank);
  header.window = to.window;
  header.offset = to.offset;
  header.bytes = bytes;
  header.change = signal.change;
  header.signals = signal.window;
  header.signal_offset = signal.offset;
  header.value = signal.value;
  return header;
}

void UcxPath::count(std::atomic<std::uint64_t>& counter, std::int64_t messages) noexcept {
  // Only this rank counts, under the lock. Relaxed: it is read while all who count sleep.
  counter.store(counter.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(messages),
                std::memory_order_relaxed);
}

void UcxPath::count_sent(std::int64_t messages) noexcept {
  count(wire::rank_block(place_.control, place_.rank).far_sent, messages);
}

bool UcxPath::start(std::uint32_t rank, Sending& sending) {
  Peer& peer = peers_[rank];
  if (is_gone(rank) || peer.failed.load(std::memory_order_relaxed) || !connect(peer, rank)) return false;
  if (peer.offered != nullptr) share_connection(peer);
  sending.path = this;
  if (sending.header.kind != wire::PathKind::applied) {
    sending.header.sequence = ++peer.sent;
    count_sent(1);
  }
  sending.header.applied = peer.done_here;
  peer.told_done = peer.done_here;
  const wire::PathKind kind = sending.header.kind;
  const bool writes = kind == wire::PathKind::put || kind == wire::PathKind::sum || kind == wire::PathKind::scatter;
  if (writes) peer.last_put = peer.sent;
  if (sending.header.kind == wire::PathKind::post) peer.posts.push_back(peer.sent);
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = &UcxPath::on_sent;
  param.user_data = &sending;
  if (!peer.has_offered && is_known(peer) && place_.rank < rank && sending.header.kind != wire::PathKind::applied) {
    // Of the two connections of a pair, that of the lower rank stays.
    peer.has_offered = true;
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_REPLY;
  }
  const auto send = [&] {
    const InUcx unseen;
    return ucx_.ucp_am_send_nbx(peer.endpoint, kMessageNumber, &sending.header, sizeof sending.header, sending.payload,
                                sending.header.bytes, &param);
  };
  ucs_status_ptr_t request = send();
  if (UCS_PTR_IS_PTR(request)) return true;
  on_sent(nullptr, UCS_PTR_STATUS(request), &sending);
  return true;
}

void UcxPath::on_sent(void* request, ucs_status_t status, void* sending) {
  const CalledByUcx ours;
  auto& sent = *static_cast<Sending*>(sending);
  UcxPath& path = *sent.path;
  // Its waiter may be gone, and it with them, once it is done.
  const bool is_waited_for = !sent.is_its_own;
  if (request != nullptr) path.ucx_.ucp_request_free(request);
  sent.status = status;
  // Pairs with the load in send(): what it waits for does not touch the payload any more. Sequentially consistent
  // because the doorbell is rung after it.
  sent.done.store(true, std::memory_order_seq_cst);
  if (is_waited_for) path.ring();
}

bool UcxPath::start_or_keep(std::uint32_t rank, Sending& sending) {
  Peer& peer = peers_[rank];
  if (!ask(rank)) return false;
  if (is_known(peer)) return start(rank, sending);
  // What waits here is under way, too.
  count_sent(1);
  peer.unsent.push_back(&sending);
  return true;
}

bool UcxPath::start_own(std::uint32_t rank, std::unique_ptr<Sending> sending) {
  Peer& peer = peers_[rank];
  const bool is_first = peer.sent == 0 && sending->header.kind == wire::PathKind::flush;
  const bool at_once = is_first || sending->header.kind == wire::PathKind::applied;
  sending->is_its_own = true;
  // A question may come behind it.
  const auto mine = own_.insert(own_.end(), std::move(sending));
  if (at_once ? start(rank, **mine) : start_or_keep(rank, **mine)) return true;
  own_.erase(mine);
  return false;
}

void UcxPath::send_unsent() noexcept {
  for (const std::uint32_t rank : std::exchange(met_, {})) {
    for (Sending* sending : std::exchange(peers_[rank].unsent, {})) {
      // Without the peer there is nobody to see it.
      if (start(rank, *sending)) {
        count_sent(-1);
      } else {
        drop_unsent(*sending);
      }
    }
  }
}

void UcxPath::drop_unsent(Sending& sending) noexcept {
  count_sent(-1);
  if (sending.header.kind == wire::PathKind::post) note_posts_done(1);
  sending.status = UCS_ERR_UNREACHABLE;
  const bool is_waited_for = !sending.is_its_own;
  // Pairs with the load in Message; sequentially consistent because the doorbell is rung after it. One that is its own
  // is forgotten.
  sending.done.store(true, std::memory_order_seq_cst);
  if (is_waited_for) ring();
}

bool UcxPath::send(std::uint32_t rank, Sending& sending, const char* what, const Deadline& deadline) {
  // A known one stays so.
  const bool known = is_known(peers_[rank]);
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
  // Pairs with the store in on_sent(); sequentially consistent because it is tested before sleeping.
  const auto is_done = [&] { return sending.done.load(std::memory_order_seq_cst); };
  const auto is_over = [&] {
    if (is_done()) return true;
    progress();
    return is_done() || is_lost(rank);
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
  sending.header = put_header(to, bytes, signal);
  sending.payload = source;
  static_cast<void>(send(to.rank, sending, bytes == 0 ? "a notify" : "a put", deadline));
}

void UcxPath::add(const comm::FarPlace& to, Element element, const void* addends, std::size_t bytes,
                  const Deadline& deadline) {
  if (bytes == 0) return;
  Sending sending;
  sending.header = header_for(wire::PathKind::sum, to.rank);
  sending.header.window = to.window;
  sending.header.offset = to.offset;
  sending.header.bytes = bytes;
  sending.header.request = static_cast<std::uint64_t>(element);
  sending.payload = addends;
  static_cast<void>(send(to.rank, sending, "an addition", deadline));
}

void UcxPath::scatter(const comm::FarPlace& to, const comm::FarPieces& pieces, const Deadline& deadline) {
  if (pieces.bytes.empty()) return;
  Sending sending;
  sending.header = header_for(wire::PathKind::scatter, to.rank);
  sending.header.window = to.window;
  sending.header.offset = to.offset;
  sending.header.bytes = pieces.bytes.size();
  sending.header.value = static_cast<std::int64_t>(pieces.piece_bytes);
  sending.header.request = static_cast<std::uint64_t>(pieces.change) | static_cast<std::uint64_t>(pieces.element)
                                                                           << wire::kElementShift;
  sending.payload = pieces.bytes.data();
  static_cast<void>(send(to.rank, sending, "a scatter", deadline));
}

void UcxPath::get(const comm::FarPlace& from, void* target, std::size_t bytes, const Deadline& deadline) {
  if (bytes == 0) return;
  Get get(*this, from, target, bytes, deadline);
  finish(get);
}

void UcxPath::finish(Transfer& transfer) {
  while (!transfer.is_over()) {
    const Deadline latest = Deadline::at(transfer.latest());
    const auto is_settled = [&] { return transfer.is_over() || transfer.latest() != latest.when(); };
    static_cast<void>(wait_until(parking_, is_settled, latest, [] {}));
  }
  transfer.end();
}

std::unique_ptr<Transfer> UcxPath::start_put(const comm::FarPlace& to, const void* source, std::size_t bytes,
                                             const comm::FarSignal& signal, const Deadline& deadline) {
  return std::make_unique<Put>(*this, to, source, bytes, signal, deadline);
}

std::unique_ptr<Transfer> UcxPath::start_get(const comm::FarPlace& from, void* target, std::size_t bytes,
                                             const Deadline& deadline) {
  return std::make_unique<Get>(*this, from, target, bytes, deadline);
}

void UcxPath::post(std::uint32_t rank, wire::AllocationKey topic, std::span<const std::byte> bytes) {
  auto sending = std::make_unique<Sending>();
  sending->header = header_for(wire::PathKind::post, rank);
  sending->header.window = topic;
  sending->header.bytes = bytes.size();
  sending->copy.assign(bytes.begin(), bytes.end());
  sending->payload = sending->copy.data();
  const std::lock_guard lock(mutex_);
  // Before it can be done. Pairs with the load in posts_are_done(), in ranks of this host that leave: they have passed
  // a barrier after this.
  wire::RankBlock& block = wire::rank_block(place_.control, place_.rank);
  block.posts.fetch_add(1, std::memory_order_seq_cst);
  if (!start_own(rank, std::move(sending))) note_posts_done(1);
}

}  // namespace baton::ucx
