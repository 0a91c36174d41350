#include "node/courier.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace baton::node {
namespace {

void append(std::vector<std::byte>& to, const RingView& from, std::uint64_t begin, std::uint64_t count) {
  const std::uint64_t at = begin & (from.size - 1);
  const std::uint64_t first = std::min(count, from.size - at);
  to.insert(to.end(), from.bytes + at, from.bytes + at + first);
  to.insert(to.end(), from.bytes, from.bytes + (count - first));
}

}  // namespace

Courier::Courier(comm::Path& path, std::uint32_t peer, wire::ChipMailbox& box, const MailboxViews& views, Side side)
    : path_(path),
      peer_(peer),
      box_(box),
      side_(side),
      in_views_(side == Side::node ? std::array{views.reports, views.replies} : std::array{views.tasks, views.control}),
      in_{StreamWriter(in_views_[0]), StreamWriter(in_views_[1])},
      out_{Outgoing{side == Side::node ? views.tasks : views.reports},
           Outgoing{side == Side::node ? views.control : views.replies}} {}

FarHead Courier::head_of(FarKind kind) const noexcept {
  FarHead head{};
  head.kind = kind;
  if (side_ == Side::chip) {
    head.phase = box_.phase.load(std::memory_order_seq_cst);
    head.completed = box_.completed.load(std::memory_order_seq_cst);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    // Pairs with the store in StreamReader: what was read may be overwritten at the other end.
    head.tails[i] = in_views_[i].ring->tail.load(std::memory_order_seq_cst);
  }
  return head;
}

void Courier::post(const FarHead& head, std::span<const std::byte> payload) {
  message_.resize(sizeof head);
  std::memcpy(message_.data(), &head, sizeof head);
  message_.insert(message_.end(), payload.begin(), payload.end());
  path_.post(peer_, kFarTopic, message_);
}

void Courier::carry() {
  const std::lock_guard lock(mutex_);
  // Read before the rings: reports of what counts as completed are then among what is sent.
  FarHead head = head_of(FarKind::rings);
  bytes_.clear();
  for (std::size_t i = 0; i < 2; ++i) {
    Outgoing& out = out_[i];
    // Pairs with the store in StreamWriter::write(), after the bytes.
    const std::uint64_t count = out.view.ring->head.load(std::memory_order_seq_cst) - out.sent;
    append(bytes_, out.view, out.sent, count);
    (i == 0 ? head.a : head.b) = count;
    out.sent += count;
  }
  const bool same = head.phase == told_.phase && head.completed == told_.completed && head.tails[0] == told_.tails[0] &&
                    head.tails[1] == told_.tails[1];
  if (bytes_.empty() && same) return;
  told_ = head;
  post(head, bytes_);
}

void Courier::send(FarKind kind, std::array<std::uint64_t, 3> numbers, std::span<const std::byte> payload) {
  const std::lock_guard lock(mutex_);
  FarHead head{};
  head.kind = kind;
  head.a = numbers[0];
  head.b = numbers[1];
  head.c = numbers[2];
  post(head, payload);
}

void Courier::take(const FarMessage& message) {
  const FarHead& head = message.head;
  if (head.a > message.payload.size() || head.b != message.payload.size() - head.a) {
    fail(Code::protocol, "{} bytes came for rings that are to get {} and {}", message.payload.size(), head.a, head.b);
  }
  const std::array<std::span<const std::byte>, 2> parts = {message.payload.first(head.a),
                                                           message.payload.subspan(head.a)};
  for (std::size_t i = 0; i < 2; ++i) {
    if (parts[i].size() > in_[i].room()) {
      fail(Code::protocol, "{} bytes came for a ring that has room for {}", parts[i].size(), in_[i].room());
    }
    if (!parts[i].empty()) static_cast<void>(in_[i].write(parts[i]));
    // As the reader would: pairs with the load in StreamWriter::room().
    out_[i].view.ring->tail.store(head.tails[i], std::memory_order_seq_cst);
  }
  if (side_ == Side::chip) return;
  box_.phase.store(head.phase, std::memory_order_seq_cst);
  // After the reports that belong to it, as the chip does; pairs with the load in WorkerState::progress().
  box_.completed.store(head.completed, std::memory_order_seq_cst);
}

}  // namespace baton::node
