// How packets travel, and what each of them means.
#include <cstring>

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <collectives/called.hpp>

#include "mailbox.hpp"

namespace baton::process_group {
namespace {

std::string text_of(std::uint64_t bytes, Element element) {
  return fmt::format("{} {}", bytes / size_of(element), collectives::word_for(element));
}

std::exception_ptr mismatch(int sender, std::uint64_t sent, Element sent_element, int receiver, std::uint64_t wanted,
                            Element wanted_element, int tag) {
  return std::make_exception_ptr(
      Error(Code::mismatch, fmt::format("rank {} sent {} with tag {} to rank {}, which receives {}", sender,
                                        text_of(sent, sent_element), tag, receiver, text_of(wanted, wanted_element))));
}

}  // namespace

std::atomic_ref<std::uint64_t> Mailbox::word(int rank, std::size_t offset) const {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(window_.part(rank) + offset));
}

bool Mailbox::move_packets() {
  bool any = false;
  bool again = !failure_;
  while (again) {
    again = false;
    for (int peer = 0; peer < me_.size(); ++peer) {
      if (peer == me_.rank()) continue;
      if (take_packets(peer)) again = true;
      if (put_packets(peer)) again = true;
    }
    any = any || again;
  }
  return any;
}

bool Mailbox::take_packets(int from) {
  Incoming& in = incoming_[static_cast<std::size_t>(from)];
  const auto put = word(me_.rank(), layout_.put_by(from));
  const auto taken = word(from, layout_.taken_by(me_.rank()));
  bool any = false;
  // Pairs with the store in put_packet().
  while (in.packets < put.load(std::memory_order_acquire)) {
    const std::byte* slot = window_.local() + layout_.slot(from, in.packets);
    PacketHeader header{};
    std::memcpy(&header, slot, sizeof header);
    take_packet(from, header, slot + MailboxLayout::kLine);
    // Pairs with the load in put_packets(): the slot may be written again. Sequentially consistent, with the load
    // below, as is the other side: who has filled the ring sees this number, or is seen to have filled it.
    taken.store(++in.packets, std::memory_order_seq_cst);
    if (put.load(std::memory_order_seq_cst) + 1 >= in.packets + MailboxLayout::kSlots)
      window_.notify(from, MailboxLayout::kBell);
    any = true;
  }
  return any;
}

void Mailbox::take_packet(int from, const PacketHeader& header, const std::byte* content) {
  const auto index = static_cast<std::size_t>(from);
  Outgoing& out = outgoing_[index];
  if (header.content_bytes > layout_.content) {
    return fail_all(
        std::make_exception_ptr(Error(Code::protocol, fmt::format("a packet of rank {} has {} bytes, {} are possible",
                                                                  from, header.content_bytes, layout_.content))));
  }
  switch (header.kind) {
    case PacketKind::message:
    case PacketKind::offer: {
      if (const Handle message = claim(from, header.tag)) return deliver(message, from, header, content);
      Unclaimed one{from, header, {}};
      if (header.kind == PacketKind::message) one.content.assign(content, content + header.content_bytes);
      unclaimed_.push_back(std::move(one));
      return;
    }
    case PacketKind::accept:
    case PacketKind::refuse: {
      auto node = out.offered.extract(header.id);
      if (node.empty()) return;
      const Handle message = node.mapped();
      if (header.kind == PacketKind::accept) {
        out.in_pieces.emplace_back(header.id, message);
      } else {
        end(message, mismatch(me_.rank(), message->bytes, message->element, from, header.bytes,
                              static_cast<Element>(header.element), header.tag));
      }
      return;
    }
    case PacketKind::piece: {
      Incoming& in = incoming_[index];
      const auto found = in.in_pieces.find(header.id);
      if (found == in.in_pieces.end()) return;
      const Handle message = found->second;
      const std::uint64_t now = std::min<std::uint64_t>(header.content_bytes, message->bytes - message->moved);
      std::memcpy(message->data + message->moved, content, now);
      message->moved += now;
      if (message->moved < message->bytes) return;
      in.in_pieces.erase(found);
      end(message);
      return;
    }
  }
}

Mailbox::Handle Mailbox::claim(int from, int tag) {
  const auto found = std::find_if(asked_.begin(), asked_.end(), [&](const Handle& one) {
    return one->tag == tag && (one->peer == kAnyRank || one->peer == from);
  });
  if (found == asked_.end()) return nullptr;
  const Handle message = *found;
  asked_.erase(found);
  return message;
}

void Mailbox::deliver(const Handle& message, int from, const PacketHeader& header, const std::byte* content) {
  const auto index = static_cast<std::size_t>(from);
  message->peer = from;
  const auto element = static_cast<Element>(header.element);
  const bool fits = header.bytes == message->bytes && element == message->element;
  if (header.kind == PacketKind::offer) {
    PacketHeader answer = header;
    answer.kind = fits ? PacketKind::accept : PacketKind::refuse;
    answer.bytes = message->bytes;
    answer.element = static_cast<std::uint32_t>(message->element);
    answer.content_bytes = 0;
    outgoing_[index].answers.push_back(answer);
    if (fits) {
      incoming_[index].in_pieces.emplace(header.id, message);
      return;
    }
  } else {
    // Relaxed: a limit. A rank that sees an older number offers what it could have put.
    incoming_[index].small_bytes += header.content_bytes;
    word(from, layout_.claimed_by(me_.rank())).store(incoming_[index].small_bytes, std::memory_order_relaxed);
    if (fits && header.bytes != 0) std::memcpy(message->data, content, header.bytes);
  }
  end(message,
      fits ? nullptr : mismatch(from, header.bytes, element, me_.rank(), message->bytes, message->element, header.tag));
}

bool Mailbox::put_packets(int to) {
  Outgoing& out = outgoing_[static_cast<std::size_t>(to)];
  const auto taken = word(me_.rank(), layout_.taken_by(to));
  bool any = false;
  // Pairs with the store in take_packets().
  while (out.packets - taken.load(std::memory_order_seq_cst) < MailboxLayout::kSlots) {
    if (!put_next(to, out)) break;
    any = true;
  }
  return any;
}

bool Mailbox::put_next(int to, Outgoing& out) {
  if (!out.answers.empty()) {
    put_packet(to, out, out.answers.front(), nullptr);
    out.answers.pop_front();
    return true;
  }
  if (!out.announced_next.empty()) {
    const Handle message = out.announced_next.front();
    out.announced_next.pop_front();
    PacketHeader header{
        PacketKind::message, message->tag, 0, message->bytes, static_cast<std::uint32_t>(message->element), 0};
    const std::uint64_t claimed = word(me_.rank(), layout_.claimed_by(to)).load(std::memory_order_relaxed);
    const bool small = message->bytes <= layout_.content;
    if (small && out.small_bytes - claimed + message->bytes <= layout_.most_unclaimed()) {
      out.small_bytes += message->bytes;
      header.content_bytes = static_cast<std::uint32_t>(message->bytes);
      put_packet(to, out, header, message->data);
      end(message);
    } else {
      header.kind = PacketKind::offer;
      header.id = out.next_id++;
      out.offered.emplace(header.id, message);
      put_packet(to, out, header, nullptr);
    }
    return true;
  }
  if (out.in_pieces.empty()) return false;
  const auto [id, message] = out.in_pieces.front();
  const std::uint64_t now = std::min<std::uint64_t>(layout_.content, message->bytes - message->moved);
  put_packet(to, out,
             {PacketKind::piece, message->tag, id, message->bytes, static_cast<std::uint32_t>(message->element),
              static_cast<std::uint32_t>(now)},
             message->data + message->moved);
  message->moved += now;
  if (message->moved == message->bytes) {
    out.in_pieces.pop_front();
    end(message);
  }
  return true;
}

void Mailbox::put_packet(int to, Outgoing& out, const PacketHeader& header, const std::byte* content) {
  std::byte* slot = window_.part(to) + layout_.slot(me_.rank(), out.packets);
  std::memcpy(slot, &header, sizeof header);
  if (header.content_bytes != 0) std::memcpy(slot + MailboxLayout::kLine, content, header.content_bytes);
  // Pairs with the loads in take_packets().
  word(to, layout_.put_by(me_.rank())).store(++out.packets, std::memory_order_seq_cst);
  window_.notify(to, MailboxLayout::kBell);
}

}  // namespace baton::process_group
