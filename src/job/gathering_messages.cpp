#include "job/gathering_messages.hpp"

#include "base/fail.hpp"

namespace baton::job {
namespace {

constexpr std::uint32_t kAllRanks = ~std::uint32_t{0};

}  // namespace

std::string encode(const GatheringOrder& order) {
  FrameWriter frame(FrameKind::job);
  frame.put(kGatheringProtocol).put_text(order.job).put_text(order.token).put_texts(order.roots);
  frame.put(static_cast<std::uint32_t>(order.ports.size()));
  for (const std::uint16_t port : order.ports) frame.put(port);
  return frame.put_text(order.interface).put(order.patience_ns).finish();
}

GatheringOrder decode_gathering_order(FrameReader& frame) {
  const auto protocol = frame.get<std::uint32_t>();
  if (frame.kind() != FrameKind::job || protocol != kGatheringProtocol) {
    fail(Code::protocol, "version {} of the order to gather came, this is {}", protocol, kGatheringProtocol);
  }
  GatheringOrder order;
  order.job = frame.get_text();
  order.token = frame.get_text();
  order.roots = frame.get_texts();
  for (auto left = frame.get<std::uint32_t>(); left > 0; --left) order.ports.push_back(frame.get<std::uint16_t>());
  order.interface = frame.get_text();
  order.patience_ns = frame.get<std::int64_t>();
  frame.expect_end();
  return order;
}

std::string encode(const Attend& attend) {
  return FrameWriter(FrameKind::attend)
      .put(attend.protocol)
      .put_text(attend.version)
      .put_text(attend.host)
      .put_text(attend.address)
      .finish();
}

Attend decode_attend(FrameReader& frame) {
  Attend attend;
  attend.protocol = frame.get<std::uint32_t>();
  attend.version = frame.get_text();
  // What follows may look different in another protocol.
  if (attend.protocol != kGatheringProtocol) return attend;
  attend.host = frame.get_text();
  attend.address = frame.get_text();
  frame.expect_end();
  return attend;
}

std::string encode(const Claim& claim) {
  return FrameWriter(FrameKind::claim).put(claim.rank).put(claim.size).put(claim.pid).finish();
}

Claim decode_claim(FrameReader& frame) {
  Claim claim;
  claim.rank = frame.get<std::uint32_t>();
  claim.size = frame.get<std::uint32_t>();
  claim.pid = frame.get<std::int32_t>();
  frame.expect_end();
  return claim;
}

std::string encode(const Reachable& reachable) {
  return FrameWriter(FrameKind::reachable).put_texts(reachable.addresses).put(reachable.port).finish();
}

Reachable decode_reachable(FrameReader& frame) {
  Reachable reachable;
  reachable.addresses = frame.get_texts();
  reachable.port = frame.get<std::uint16_t>();
  frame.expect_end();
  return reachable;
}

std::string encode(const Failure& failure) {
  FrameWriter frame(FrameKind::failed);
  frame.put(failure.rank.value_or(kAllRanks));
  put_error(frame, failure.error);
  return frame.finish();
}

Failure decode_failure(FrameReader& frame) {
  const auto rank = frame.get<std::uint32_t>();
  return {rank == kAllRanks ? std::nullopt : std::optional(rank), decode_not_started(frame)};
}

}  // namespace baton::job
