#include "job/rank_messages.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace baton::job {

std::string encode(const RecordPart& part) {
  return FrameWriter(FrameKind::record)
      .put(part.sequence)
      .put(part.rank)
      .put(part.membership)
      .put(static_cast<std::uint8_t>(part.last))
      .put_rest(part.bytes)
      .finish();
}

RecordPart decode_record(FrameReader& frame) {
  RecordPart part;
  part.sequence = frame.get<std::uint64_t>();
  part.rank = frame.get<std::uint32_t>();
  part.membership = frame.get<std::uint32_t>();
  part.last = frame.get<std::uint8_t>() != 0;
  part.bytes = frame.get_rest();
  return part;
}

std::string encode(const comm::RankEnd& end) {
  return FrameWriter(FrameKind::rank_end)
      .put(end.rank)
      .put(static_cast<std::uint32_t>(end.state))
      .put(static_cast<std::uint32_t>(end.kind))
      .put(end.value)
      .put(end.membership)
      .put_text(end.reason)
      .finish();
}

comm::RankEnd decode_rank_end(FrameReader& frame) {
  comm::RankEnd end;
  end.rank = frame.get<std::uint32_t>();
  const auto state = frame.get<std::uint32_t>();
  const auto kind = frame.get<std::uint32_t>();
  end.value = frame.get<std::uint32_t>();
  end.membership = frame.get<std::uint32_t>();
  end.reason = frame.get_text();
  frame.expect_end();
  end.state =
      state == static_cast<std::uint32_t>(wire::RankState::left) ? wire::RankState::left : wire::RankState::dead;
  end.kind = kind <= static_cast<std::uint32_t>(wire::EndKind::error) ? static_cast<wire::EndKind>(kind)
                                                                      : wire::EndKind::unknown;
  return end;
}

std::string encode(const Join& join) { return FrameWriter(FrameKind::join).put(join.rank).put(join.size).finish(); }

Join decode_join(FrameReader& frame) {
  Join join;
  join.rank = frame.get<std::uint32_t>();
  join.size = frame.get<std::uint32_t>();
  frame.expect_end();
  return join;
}

std::string encode(const Welcome& welcome) {
  FrameWriter frame(FrameKind::welcome);
  frame.put_text(welcome.job).put_texts(welcome.hosts).put_text(welcome.address);
  for (const std::uint32_t host : welcome.host_of) frame.put(host);
  return frame.finish();
}

Welcome decode_welcome(FrameReader& frame) {
  Welcome welcome;
  welcome.job = frame.get_text();
  welcome.hosts = frame.get_texts();
  welcome.address = frame.get_text();
  FrameReader ranks(FrameKind::welcome, frame.get_rest());
  while (!ranks.at_end()) {
    welcome.host_of.push_back(ranks.get<std::uint32_t>());
    if (welcome.host_of.back() >= welcome.hosts.size()) {
      fail(Code::protocol, "rank {} is said to be on host {} of {}", welcome.host_of.size() - 1, welcome.host_of.back(),
           welcome.hosts.size());
    }
  }
  return welcome;
}

void put_error(FrameWriter& frame, const Error& error) {
  frame.put(static_cast<std::uint32_t>(error.code()))
      .put_text(error.message())
      .put_texts(error.notes())
      .put_text(error.remedy());
}

std::string encode_not_started(const Error& error) {
  FrameWriter frame(FrameKind::not_started);
  put_error(frame, error);
  return frame.finish();
}

Error decode_not_started(FrameReader& frame) {
  const auto code = static_cast<Code>(frame.get<std::uint32_t>());
  std::string message = frame.get_text();
  std::erase(message, '\0');  // what() ends there
  std::vector<std::string> notes = frame.get_texts();
  const std::string remedy = frame.get_text();
  frame.expect_end();
  return Error(code, std::move(message), std::move(notes), remedy);
}

std::string encode(const ProcessSight& sight) {
  return FrameWriter(FrameKind::stopped).put(sight.rank).put(static_cast<std::uint8_t>(sight.is_stopped)).finish();
}

ProcessSight decode_process_sight(FrameReader& frame) {
  ProcessSight sight;
  sight.rank = frame.get<std::int32_t>();
  sight.is_stopped = frame.get<std::uint8_t>() != 0;
  frame.expect_end();
  return sight;
}

std::string encode(const Meeting& meeting) {
  return FrameWriter(FrameKind::meeting).put_text(meeting.agent).put_text(meeting.watch).finish();
}

Meeting decode_meeting(FrameReader& frame) {
  Meeting meeting{.agent = frame.get_text(), .watch = frame.get_text()};
  frame.expect_end();
  return meeting;
}

}  // namespace baton::job
