// The rings between a node and a chip on another host: each end has a mailbox of its own, and what is written to one
// appears in the other.
#pragma once

#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "comm/path.hpp"
#include "node/chip_mailbox.hpp"
#include "node/far_message.hpp"

namespace baton::node {

/// One end. A ring is never fuller at its reader than it seems to be at its writer, so what comes always has room.
class Courier {
 public:
  enum class Side : std::uint8_t { node, chip };

  /// `views` are of `box`. Both, and the path, live longer.
  Courier(comm::Path& path, std::uint32_t peer, wire::ChipMailbox& box, const MailboxViews& views, Side side);

  /// Sends what has been written since the last time, how far this end has read, and how far the chip has come. Nothing
  /// if nothing is new. Any thread.
  void carry();
  /// A message of another kind, behind what was carried before. Any thread.
  void send(FarKind kind, std::array<std::uint64_t, 3> numbers, std::span<const std::byte> payload);

  /// What came from the other end, of FarKind::rings. One call at a time. Throws Error (protocol) if it has no room.
  void take(const FarMessage& message);

 private:
  struct Outgoing {
    RingView view;
    std::uint64_t sent = 0;  // guarded by mutex_
  };
  [[nodiscard]] FarHead head_of(FarKind kind) const noexcept;
  void post(const FarHead& head, std::span<const std::byte> payload);

  comm::Path& path_;
  std::uint32_t peer_;
  wire::ChipMailbox& box_;
  Side side_;
  std::array<RingView, 2> in_views_;
  std::array<StreamWriter, 2> in_;
  std::mutex mutex_;  // taken before the locks of the path
  std::array<Outgoing, 2> out_;
  FarHead told_{};  // guarded by mutex_, like the next two
  std::vector<std::byte> bytes_;
  std::vector<std::byte> message_;
};

}  // namespace baton::node
