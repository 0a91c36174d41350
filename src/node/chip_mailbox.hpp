// A chip's end of its mailbox.
#pragma once

#include <span>

#include "base/deadline.hpp"
#include "base/parking.hpp"
#include "node/byte_stream.hpp"
#include "wire/node_mailbox.hpp"

namespace baton::node {

/// The rings of one chip, in the memory of this process.
struct MailboxViews {
  RingView tasks;
  RingView reports;
  RingView control;
  RingView replies;
  std::span<std::byte> staging;
};
[[nodiscard]] MailboxViews views_of(wire::NodeHeader& header, std::size_t chip) noexcept;

class Courier;

class ChipMailbox {
 public:
  /// `scope`: whether the node is another process. `courier`: to a node on another host.
  ChipMailbox(wire::NodeHeader& header, std::size_t chip, FutexScope scope, Courier* courier = nullptr) noexcept
      : header_(header), box_(wire::mailbox_of(header, chip)), scope_(scope), courier_(courier) {}

  void set_phase(wire::ChipPhase phase) noexcept;
  /// The node sees all that was done for the first `count` records.
  void tell_completed(std::uint64_t count) noexcept;
  /// Something came for the node, or there is room again for what it has to say.
  void ring() noexcept;
  /// Writes all of a record; waits at `place` for room. False at the deadline.
  [[nodiscard]] bool write(StreamWriter& writer, std::span<const std::byte> record, const ParkingPlace& place,
                           const Deadline& deadline);

 private:
  wire::NodeHeader& header_;
  wire::ChipMailbox& box_;
  FutexScope scope_;
  Courier* courier_;
};

}  // namespace baton::node
