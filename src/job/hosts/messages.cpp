#include "job/hosts/messages.hpp"

#include <limits>

#include "base/fail.hpp"
#include "wire/control.hpp"

namespace baton::job {
namespace {

template <class Enum>
Enum enumerator(std::uint32_t value, Enum last) {
  if (value > static_cast<std::uint32_t>(last)) fail(Code::protocol, "{} is not a value of the enumeration", value);
  return static_cast<Enum>(value);
}

/// How long ago `when_ns` was; 0 stays what it is: never.
std::int64_t age_of(std::int64_t when_ns) {
  return when_ns == 0 ? 0 : std::max<std::int64_t>(comm::monotonic_ns() - when_ns, 1);
}
std::int64_t time_of(std::int64_t age) { return age == 0 ? 0 : comm::monotonic_ns() - age; }

/// So small that no sum of it and times of this host overflows.
std::int64_t get_age(FrameReader& frame) {
  const auto age = frame.get<std::int64_t>();
  if (age < 0 || age > std::numeric_limits<std::int64_t>::max() / 2) fail(Code::protocol, "{} ns is not an age", age);
  return age;
}

void put(FrameWriter& frame, const RankSnapshot& rank) {
  frame.put(rank.rank)
      .put(static_cast<std::uint32_t>(rank.state))
      .put(rank.process.pid)
      .put(rank.process.start_time)
      .put(static_cast<std::uint32_t>(rank.end_kind))
      .put(rank.end_value)
      .put_text(rank.reason)
      .put(age_of(rank.ended_ns))
      .put(static_cast<std::uint32_t>(rank.activity))
      .put(static_cast<std::uint8_t>(rank.wait.has_value()));
  if (!rank.wait) return;
  frame.put(static_cast<std::uint32_t>(rank.wait->operation))
      .put_text(rank.wait->object)
      .put(rank.wait->index)
      .put(static_cast<std::uint32_t>(rank.wait->comparison))
      .put(rank.wait->needs)
      .put(age_of(rank.wait->since_ns));
}

RankSnapshot get_snapshot(FrameReader& frame) {
  RankSnapshot rank;
  rank.rank = frame.get<std::uint32_t>();
  rank.state = enumerator(frame.get<std::uint32_t>(), wire::RankState::dead);
  rank.process.pid = frame.get<std::uint32_t>();
  rank.process.start_time = frame.get<std::uint64_t>();
  rank.end_kind = enumerator(frame.get<std::uint32_t>(), wire::EndKind::error);
  rank.end_value = frame.get<std::uint32_t>();
  rank.reason = frame.get_text();
  rank.ended_ns = time_of(get_age(frame));
  rank.activity = enumerator(frame.get<std::uint32_t>(), wire::kLastOperation);
  if (frame.get<std::uint8_t>() == 0) return rank;
  comm::WaitDescription& wait = rank.wait.emplace();
  wait.operation = enumerator(frame.get<std::uint32_t>(), wire::kLastOperation);
  wait.object = frame.get_text();
  wait.index = frame.get<std::uint64_t>();
  wait.comparison = enumerator(frame.get<std::uint32_t>(), WaitCmp::le);
  wait.needs = frame.get<std::int32_t>();
  wait.since_ns = time_of(get_age(frame));
  return rank;
}

FrameWriter stream_frame(FrameKind kind, StreamName stream) {
  FrameWriter frame(kind);
  frame.put(stream.rank).put(static_cast<std::uint8_t>(stream.error));
  return frame;
}

}  // namespace

std::string encode(const Hello& hello) {
  return FrameWriter(FrameKind::hello).put(hello.protocol).put_text(hello.version).put(hello.host).finish();
}

Hello decode_hello(FrameReader& frame) {
  Hello hello;
  hello.protocol = frame.get<std::uint32_t>();
  hello.version = frame.get_text();
  // What follows may look different in another protocol.
  if (hello.protocol != kAgentProtocol) return hello;
  hello.host = frame.get<std::uint32_t>();
  frame.expect_end();
  return hello;
}

std::string encode(const JobOrder& order) {
  FrameWriter frame(FrameKind::job);
  frame.put_text(order.job)
      .put_text(order.folder)
      .put_texts(order.command)
      .put_texts(order.environment)
      .put(order.size)
      .put(order.host)
      .put(static_cast<std::uint8_t>(order.bind))
      .put(static_cast<std::uint8_t>(order.traces))
      .put(order.node)
      .put_text(order.node_address)
      .put(static_cast<std::uint32_t>(order.hosts.size()));
  for (const HostShare& host : order.hosts) frame.put_text(host.name).put(host.first_rank).put(host.count);
  return frame.finish();
}

JobOrder decode_job(FrameReader& frame) {
  JobOrder order;
  order.job = frame.get_text();
  order.folder = frame.get_text();
  order.command = frame.get_texts();
  order.environment = frame.get_texts();
  order.size = frame.get<std::uint32_t>();
  order.host = frame.get<std::uint32_t>();
  order.bind = frame.get<std::uint8_t>() != 0;
  order.traces = frame.get<std::uint8_t>() != 0;
  order.node = frame.get<std::int32_t>();
  order.node_address = frame.get_text();
  std::int64_t next = 0;
  for (auto left = frame.get<std::uint32_t>(); left > 0; --left) {
    HostShare host;
    host.name = frame.get_text();
    host.first_rank = frame.get<std::int32_t>();
    host.count = frame.get<std::int32_t>();
    if (host.first_rank != next || host.count < 1) fail(Code::protocol, "the hosts do not share the ranks of the job");
    next += host.count;
    order.hosts.push_back(std::move(host));
  }
  frame.expect_end();
  bool sound = next == order.size && order.size <= wire::kMaxRanks && order.host < order.hosts.size();
  if (order.node != 0) sound = sound && order.hosts.size() > 1 && order.hosts.back().count == 1;
  if (!sound || order.command.empty()) fail(Code::protocol, "the order to run a job contradicts itself");
  return order;
}

std::string encode(const RankEnding& ending) {
  FrameWriter frame(FrameKind::ended);
  const auto age = std::chrono::nanoseconds(Deadline::Clock::now() - ending.when).count();
  frame.put(ending.rank).put(ending.status).put(age).put(static_cast<std::uint8_t>(ending.last_seen.has_value()));
  if (ending.last_seen) put(frame, *ending.last_seen);
  return frame.finish();
}

RankEnding decode_ended(FrameReader& frame) {
  RankEnding ending;
  ending.rank = frame.get<std::int32_t>();
  ending.status = frame.get<std::int32_t>();
  ending.when = Deadline::Clock::now() - std::chrono::nanoseconds(get_age(frame));
  if (frame.get<std::uint8_t>() != 0) ending.last_seen = get_snapshot(frame);
  frame.expect_end();
  return ending;
}

std::string encode_output(StreamName stream, std::string_view bytes) {
  return stream_frame(FrameKind::output, stream).put_rest(bytes).finish();
}

std::string encode_output_end(StreamName stream) { return stream_frame(FrameKind::output_end, stream).finish(); }

std::string encode_room(StreamName stream, std::uint64_t bytes) {
  return stream_frame(FrameKind::room, stream).put(bytes).finish();
}

StreamName decode_stream(FrameReader& frame) {
  StreamName stream;
  stream.rank = frame.get<std::uint32_t>();
  stream.error = frame.get<std::uint8_t>() != 0;
  return stream;
}

}  // namespace baton::job
