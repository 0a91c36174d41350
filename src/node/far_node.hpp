// A node on another host, as its chip sees it: mailbox and buffers of this chip, which messages of the node fill.
#pragma once

#include <memory>

#include "comm/memfd.hpp"
#include "comm/world.hpp"
#include "node/buffer_table.hpp"
#include "node/chip_mailbox.hpp"
#include "node/courier.hpp"
#include "node/far_memory.hpp"
#include "node/start_message.hpp"

namespace baton::node {

/// The node is the last rank of the job, the chips are the others.
class FarNode {
 public:
  /// `chip`: the membership of this chip. From now on what the node sends is taken.
  explicit FarNode(std::shared_ptr<comm::World> chip);
  ~FarNode();
  FarNode(const FarNode&) = delete;
  FarNode& operator=(const FarNode&) = delete;

  /// The first message. Throws wait_timeout.
  [[nodiscard]] StartMessage await_start();

  /// Of all chips, of which one has a mailbox that is used.
  [[nodiscard]] wire::NodeHeader& header() noexcept { return *static_cast<wire::NodeHeader*>(segment_->address()); }
  [[nodiscard]] BufferTable& buffers() noexcept { return buffers_; }
  [[nodiscard]] Courier& courier() noexcept { return *courier_; }
  [[nodiscard]] FarMemory& memory() noexcept { return *memory_; }

  void share_staging(std::uint64_t offset, std::span<const std::byte> bytes) {
    courier_->send(FarKind::staging, {offset, 0, 0}, bytes);
  }
  /// Deals with what has come. Never blocks.
  void progress() noexcept { path_.progress(); }

 private:
  void take(const FarMessage& message);
  void take_buffer(const FarMessage& message);

  std::shared_ptr<comm::World> chip_;
  comm::Path& path_;
  std::shared_ptr<comm::SharedMemory> segment_;
  MailboxViews views_;
  BufferTable buffers_;
  std::unique_ptr<Courier> courier_;
  std::unique_ptr<FarMemory> memory_;
};

}  // namespace baton::node
