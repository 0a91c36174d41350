// What comes from ranks of other hosts.
#include <cstring>

#include "base/log.hpp"
#include "comm/backends/ucx/ucx_path.hpp"
#include "comm/health.hpp"

namespace baton::ucx {

ucs_status_t UcxPath::on_message(void* path, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param) {
  const CalledByUcx ours;
  try {
    return static_cast<UcxPath*>(path)->take(header, header_bytes, data, bytes, *param);
  } catch (const std::exception& error) {
    log::warn("a message of {} bytes from another host was lost: {}", bytes, error.what());
    return UCS_OK;
  }
}

ucs_status_t UcxPath::take(const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                           const ucp_am_recv_param_t& param) {
  const bool is_large = (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  if (const char* defect = wire::path_defect(header, header_bytes, bytes, receiver_)) {
    if (refused_++ == 0) log::warn("rank {} got a message from another host that is {}", place_.rank, defect);
    return UCS_OK;
  }
  wire::PathHeader message{};
  std::memcpy(&message, header, sizeof message);
  Peer& peer = peers_[message.source];
  const bool has_turn = message.kind != wire::PathKind::applied;
  const bool early = has_turn && is_early(peer, message.sequence);
  if (has_turn && !early && message.sequence != peer.received + 1) {
    refuse(message, "out of turn");
    return UCS_OK;
  }
  if (has_turn && !early) ++peer.received;
  if ((param.recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0) note_offer(peer, param.reply_ep);
  if (message.applied > peer.done_there.load(std::memory_order_relaxed)) {
    if (!is_known(peer)) met_.push_back(message.source);
    // Pairs with the load in flush(); sequentially consistent because the doorbell is rung after it.
    peer.done_there.store(message.applied, std::memory_order_seq_cst);
    count_posts_done(peer, message.applied);
    ring();
  }
  if (!has_turn) return UCS_OK;
  const auto* payload = static_cast<const std::byte*>(data);
  if (!early && !is_large && peer.held.empty() && !peer.receives) {
    deal_with(message, {payload, bytes});
  } else {
    Held held{message, {}, nullptr};
    if (is_large) {
      held.descriptor = data;
    } else {
      held.payload.assign(payload, payload + bytes);
    }
    if (early) {
      peer.early.push_back(std::move(held));
    } else {
      hold(peer, std::move(held));
    }
  }
  if (!early && !peer.early.empty()) [[unlikely]]
    take_early(peer);
  return is_large ? UCS_INPROGRESS : UCS_OK;
}

bool UcxPath::is_early(const Peer& peer, std::uint64_t sequence) noexcept {
  if (!peer.has_offered || sequence <= peer.received + 1) return false;
  return peer.early.empty() || sequence == peer.early.back().header.sequence + 1;
}

void UcxPath::take_early(Peer& peer) {
  if (peer.early.front().header.sequence != peer.received + 1) return;
  peer.received = peer.early.back().header.sequence;
  for (Held& held : std::exchange(peer.early, {})) hold(peer, std::move(held));
}

void UcxPath::hold(Peer& peer, Held held) {
  waiting_.push_back(held.header.source);
  peer.held.push_back(std::move(held));
}

bool UcxPath::deal_with_held() {
  bool any = false;
  const std::vector<std::uint32_t> waiting = std::exchange(waiting_, {});
  for (const std::uint32_t rank : waiting) {
    Peer& peer = peers_[rank];
    while (!peer.receives && !peer.held.empty()) {
      Held held = std::move(peer.held.front());
      peer.held.pop_front();
      any = true;
      if (held.descriptor != nullptr) {
        fetch(peer, held);
      } else {
        deal_with(held.header, held.payload);
      }
    }
  }
  return any;
}

void UcxPath::deal_with(const wire::PathHeader& header, std::span<const std::byte> payload) {
  bool arrived = true;
  if (header.kind == wire::PathKind::put && !payload.empty()) {
    const InWindows unseen;
    const comm::Delivery::Copied copied = delivery_.copy_in(header.window, header.offset, payload);
    arrived = copied == comm::Delivery::Copied::yes;
    if (copied == comm::Delivery::Copied::outside) refuse(header, "for bytes outside of the window");
  } else if (header.kind == wire::PathKind::reply && header.value == 0) {
    const auto found = gets_.find(header.request);
    arrived = found != gets_.end() && found->second->bytes == payload.size();
    if (arrived && !payload.empty()) {
      const InWindows unseen;
      std::memcpy(found->second->target, payload.data(), payload.size());
    } else if (!arrived) {
      refuse(header, "a reply that nobody waits for");
    }
  }
  finish(header, arrived ? payload : std::span<const std::byte>{}, arrived);
}

void UcxPath::fetch(Peer& peer, const Held& held) {
  auto receiving = std::make_unique<Receiving>();
  receiving->path = this;
  receiving->header = held.header;
  std::byte* target = nullptr;
  if (held.header.kind == wire::PathKind::put) {
    comm::Delivery::Place place = delivery_.find(held.header.window, held.header.offset, held.header.bytes);
    target = place.address;
    if (place.is_outside) refuse(held.header, "for bytes outside of the window");
    receiving->memory = std::move(place.memory);
  } else if (held.header.kind == wire::PathKind::reply) {
    const auto found = gets_.find(held.header.request);
    if (found != gets_.end() && found->second->bytes == held.header.bytes) {
      receiving->getting = found->second;
      receiving->getting->arrives = true;
      target = found->second->target;
    }
  } else {
    receiving->buffer.resize(held.header.bytes);
    target = receiving->buffer.data();
  }
  if (target == nullptr) {
    ucx_.ucp_am_data_release(worker_->get(), held.descriptor);
    return finish(held.header, {}, false);
  }
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv_am = &UcxPath::on_received;
  param.user_data = receiving.get();
  peer.receives = true;
  const auto receive = [&] {
    const InUcx unseen;
    return ucx_.ucp_am_recv_data_nbx(worker_->get(), held.descriptor, target, held.header.bytes, &param);
  };
  ucs_status_ptr_t request = receive();
  if (UCS_PTR_IS_PTR(request)) {
    static_cast<void>(receiving.release());  // on_received() has it
    return;
  }
  on_received(nullptr, UCS_PTR_STATUS(request), held.header.bytes, receiving.release());
}

void UcxPath::on_received(void* request, ucs_status_t status, std::size_t bytes, void* receiving) {
  const CalledByUcx ours;
  const std::unique_ptr<Receiving> done(static_cast<Receiving*>(receiving));
  UcxPath& path = *done->path;
  if (request != nullptr) path.ucx_.ucp_request_free(request);
  Peer& peer = path.peers_[done->header.source];
  peer.receives = false;
  if (!peer.held.empty()) path.waiting_.push_back(done->header.source);
  const bool arrived = status == UCS_OK && bytes == done->header.bytes;
  if (!arrived)
    log::debug("a payload of rank {} did not come: {}", done->header.source, path.ucx_.ucs_status_string(status));
  try {
    path.finish(done->header, done->buffer, arrived);
  } catch (const std::exception& error) {
    log::warn("a message of rank {} was lost: {}", done->header.source, error.what());
  }
}

void UcxPath::finish(const wire::PathHeader& header, std::span<const std::byte> payload, bool arrived) {
  Peer& peer = peers_[header.source];
  ++peer.done_here;
  switch (header.kind) {
    case wire::PathKind::put:
      if (arrived && header.change != wire::SignalChange::none && !delivery_.change_signal(header)) {
        log::debug("a signal came from rank {} for a window that is not there any more", header.source);
      }
      break;
    case wire::PathKind::sum:
    case wire::PathKind::scatter: {
      const InWindows unseen;
      const bool is_sum = header.kind == wire::PathKind::sum;
      if (arrived && !(is_sum ? delivery_.add(header, payload) : delivery_.scatter(header, payload)))
        refuse(header, "for elements that are not there");
      break;
    }
    case wire::PathKind::get: answer_get(header); break;
    case wire::PathKind::reply: {
      const auto found = gets_.find(header.request);
      if (found == gets_.end()) break;
      found->second->refused = header.value != 0 || !arrived;
      // Pairs with the load in get(); sequentially consistent because the doorbell is rung after it.
      found->second->done.store(true, std::memory_order_seq_cst);
      gets_.erase(found);
      ring();
      break;
    }
    case wire::PathKind::post:
      if (arrived) delivery_.deliver(header.window, header.source, payload);
      // Ranks of its host do not leave before this is known there.
      owe(header.source);
      break;
    case wire::PathKind::flush: tell_done(header.source); break;
    case wire::PathKind::applied: break;
  }
  count(wire::rank_block(place_.control, place_.rank).far_done, 1);
}

void UcxPath::answer_get(const wire::PathHeader& header) {
  auto reply = std::make_unique<Sending>();
  reply->header = header_for(wire::PathKind::reply, header.source);
  reply->header.request = header.request;
  const auto bytes = static_cast<std::uint64_t>(header.value);
  comm::Delivery::Place place = delivery_.find(header.window, header.offset, bytes);
  if (place.address == nullptr) {
    reply->header.value = 1;
  } else {
    reply->header.bytes = bytes;
    reply->payload = place.address;
    reply->memory = std::move(place.memory);
  }
  outbox_.emplace_back(header.source, std::move(reply));
}

void UcxPath::refuse(const wire::PathHeader& header, const char* why) {
  if (refused_++ != 0) return;
  log::warn("rank {} refused a message of rank {} that is {}: byte {} of window {:x}.{}, {} bytes", place_.rank,
            header.source, why, header.offset, header.window.domain, header.window.sequence, header.bytes);
}

}  // namespace baton::ucx
