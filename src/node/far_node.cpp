#include "node/far_node.hpp"

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/delivery.hpp"
#include "comm/health.hpp"
#include "node/chips.hpp"

namespace baton::node {
namespace {

comm::Path& path_of(comm::World& chip) {
  if (chip.path() == nullptr) fail(Code::protocol, "a chip of another host was started without a path to its node");
  return *chip.path();
}

std::shared_ptr<comm::SharedMemory> make_segment(std::uint32_t chips) {
  const std::uint64_t bytes = wire::node_segment_bytes(chips, mailbox_sizes());
  auto segment = comm::map_memfd(comm::create_memfd(wire::kNodeSegmentName, bytes), bytes);
  write_node_header(segment->address(), chips);
  return segment;
}

}  // namespace

FarNode::FarNode(std::shared_ptr<comm::World> chip)
    : chip_(std::move(chip)),
      path_(path_of(*chip_)),
      segment_(make_segment(chip_->size() - 1)),
      views_(views_of(header(), chip_->rank())),
      courier_(std::make_unique<Courier>(path_, chip_->size() - 1, wire::mailbox_of(header(), chip_->rank()), views_,
                                         Courier::Side::chip)),
      memory_(std::make_unique<FarMemory>(*courier_, path_, chip_->parking_place(), chip_->wait_timeout())) {
  path_.delivery().listen(kFarTopic, [this](std::uint32_t source, std::span<const std::byte> bytes) {
    const auto message = far_message(bytes);
    if (message && source == chip_->size() - 1) take(*message);
  });
}

FarNode::~FarNode() { path_.delivery().stop_listening(kFarTopic); }

void FarNode::take(const FarMessage& message) {
  switch (message.head.kind) {
    case FarKind::rings: courier_->take(message); break;
    case FarKind::staging: take_staging(views_.staging, message); break;
    case FarKind::give: take_buffer(message); break;
    case FarKind::data: memory_->take(message); break;
    case FarKind::abandon:
      for (std::uint32_t chip = 0; chip + 1 < chip_->size(); ++chip) {
        comm::mark_dead(chip_->control(), chip, wire::EndKind::error, 0);
      }
      break;
    default: log::warn("the node sent a message of kind {}", static_cast<std::uint32_t>(message.head.kind));
  }
  chip_->ring(chip_->rank());
}

void FarNode::take_buffer(const FarMessage& message) {
  const std::uint64_t bytes = message.head.b;
  auto memory = comm::map_memfd(comm::create_memfd("baton-buffer", bytes), bytes);
  std::string name(reinterpret_cast<const char*>(message.payload.data()), message.payload.size());
  buffers_.insert(message.head.a,
                  {static_cast<std::byte*>(memory->address()), bytes, std::move(name), std::move(memory)});
}

StartMessage FarNode::await_start() {
  StreamReader control(views_.control);
  const auto came = [&] {
    progress();
    return control.readable();
  };
  if (!wait_until(chip_->parking_place(), came, Deadline::within(chip_->wait_timeout()), [] {})) {
    fail(Code::wait_timeout, "the node did not say what this chip is");
  }
  const auto record = control.next();
  if (!record) fail(Code::protocol, "the node's first message to this chip came in pieces");
  MessageReader message(*record);
  StartMessage start = get_start(message);
  control.release();
  return start;
}

}  // namespace baton::node
