#include "job/node_messages.hpp"

#include "base/fail.hpp"

namespace baton::job {

std::string encode(const NodeOrder& order) {
  FrameWriter frame(FrameKind::job);
  frame.put_text(order.program)
      .put_text(order.folder)
      .put_texts(order.environment)
      .put_text(order.launch_agent)
      .put_text(order.remote_baton)
      .put_text(order.interface)
      .put(order.patience_ns)
      .put_text(order.trace)
      .put(static_cast<std::uint32_t>(order.hosts.size()));
  for (const HostShare& host : order.hosts) frame.put_text(host.name).put(host.first_rank).put(host.count);
  return frame.finish();
}

NodeOrder decode_node_order(FrameReader& frame) {
  NodeOrder order;
  order.program = frame.get_text();
  order.folder = frame.get_text();
  order.environment = frame.get_texts();
  order.launch_agent = frame.get_text();
  order.remote_baton = frame.get_text();
  order.interface = frame.get_text();
  order.patience_ns = frame.get<std::uint64_t>();
  order.trace = frame.get_text();
  for (auto left = frame.get<std::uint32_t>(); left > 0; --left) {
    HostShare host{.name = frame.get_text()};
    host.first_rank = frame.get<std::int32_t>();
    host.count = frame.get<std::int32_t>();
    order.hosts.push_back(std::move(host));
  }
  frame.expect_end();
  if (order.hosts.empty() || order.program.empty()) fail(Code::protocol, "an order without hosts or program came");
  return order;
}

std::string encode(const ChipEnd& end) {
  return FrameWriter(FrameKind::ended).put(end.chip).put_text(end.how).finish();
}

ChipEnd decode_chip_end(FrameReader& frame) {
  ChipEnd end{.chip = frame.get<std::int32_t>()};
  end.how = frame.get_text();
  frame.expect_end();
  return end;
}

std::string encode(const ChipStart& start) {
  return FrameWriter(FrameKind::started).put(start.chip).put(start.pid).finish();
}

ChipStart decode_chip_start(FrameReader& frame) {
  ChipStart start{.chip = frame.get<std::int32_t>()};
  start.pid = frame.get<std::int32_t>();
  frame.expect_end();
  return start;
}

}  // namespace baton::job
