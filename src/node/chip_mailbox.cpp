#include "node/chip_mailbox.hpp"

#include "node/courier.hpp"

namespace baton::node {

MailboxViews views_of(wire::NodeHeader& header, std::size_t chip) noexcept {
  wire::ChipMailbox& box = wire::mailbox_of(header, chip);
  std::byte* bytes = wire::ring_bytes_of(header, chip);
  const auto next = [&](std::uint64_t size) {
    std::byte* begin = bytes;
    bytes += size;
    return begin;
  };
  MailboxViews views;
  views.tasks = {&box.tasks, next(header.sizes.tasks), header.sizes.tasks};
  views.reports = {&box.reports, next(header.sizes.reports), header.sizes.reports};
  views.control = {&box.control, next(header.sizes.control), header.sizes.control};
  views.replies = {&box.replies, next(header.sizes.replies), header.sizes.replies};
  views.staging = {next(header.sizes.staging), header.sizes.staging};
  return views;
}

void ChipMailbox::set_phase(wire::ChipPhase phase) noexcept {
  box_.phase.store(static_cast<std::uint32_t>(phase), std::memory_order_seq_cst);
  ring();
}

void ChipMailbox::tell_completed(std::uint64_t count) noexcept {
  box_.completed.store(count, std::memory_order_seq_cst);
  if (courier_ != nullptr) return courier_->carry();
  // A node that has not counted the one before looks again before it sleeps (see StreamWriter::write()): many
  // completions cost one ring.
  if (box_.seen.load(std::memory_order_seq_cst) != count - 1) return;
  header_.waiters.ring(scope_);
  if (header_.armed.load(std::memory_order_seq_cst) != 0) header_.service.ring(scope_);
}

void ChipMailbox::ring() noexcept {
  if (courier_ != nullptr) return courier_->carry();
  header_.waiters.ring(scope_);
  header_.service.ring(scope_);
}

bool ChipMailbox::write(StreamWriter& writer, std::span<const std::byte> record, const ParkingPlace& place,
                        const Deadline& deadline) {
  while (!record.empty()) {
    record = record.subspan(writer.write(record).bytes);
    ring();
    if (record.empty()) break;
    const auto has_room = [&] { return writer.room() > 0; };
    if (!wait_until(place, has_room, deadline, [] {})) return false;
  }
  return true;
}

}  // namespace baton::node
