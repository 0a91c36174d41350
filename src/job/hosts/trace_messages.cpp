#include "job/hosts/trace_messages.hpp"

#include "base/fail.hpp"

namespace baton::job {

std::string encode(const TracePart& part) {
  return FrameWriter(FrameKind::trace)
      .put(part.chunk)
      .put(static_cast<std::uint32_t>(part.kind))
      .put(part.process)
      .put(part.thread)
      .put(part.first)
      .put_rest(part.bytes)
      .finish();
}

TracePart decode_trace_part(FrameReader& frame) {
  TracePart part;
  part.chunk = frame.get<std::uint32_t>();
  part.kind = static_cast<ChunkKind>(frame.get<std::uint32_t>());
  part.process = frame.get<std::uint32_t>();
  part.thread = frame.get<std::uint32_t>();
  part.first = frame.get<std::uint64_t>();
  part.bytes = frame.get_rest();
  const std::size_t bytes = part.bytes.size();
  bool sound = false;
  switch (part.kind) {
    case ChunkKind::live:
      sound = bytes % sizeof(EventRecord) == 0 && bytes <= kChunkEvents * sizeof(EventRecord);
      break;
    case ChunkKind::full: sound = bytes == kChunkEvents * sizeof(EventRecord); break;
    case ChunkKind::texts:
      sound = bytes <= sizeof TextChunk::text && part.first <= sizeof TextChunk::text - bytes;
      break;
    case ChunkKind::host: break;
  }
  if (!sound) {
    fail(Code::protocol, "{} bytes of a chunk of kind {} came", bytes, static_cast<std::uint32_t>(part.kind));
  }
  return part;
}

std::string encode(const ClockQuestion& question) {
  return FrameWriter(FrameKind::clock).put(question.sent_ns).finish();
}

std::string encode(const ClockAnswer& answer) {
  return FrameWriter(FrameKind::clock).put(answer.sent_ns).put(answer.reading.ticks).put(answer.reading.ns).finish();
}

ClockQuestion decode_clock_question(FrameReader& frame) {
  const ClockQuestion question{frame.get<std::int64_t>()};
  frame.expect_end();
  return question;
}

ClockAnswer decode_clock_answer(FrameReader& frame) {
  ClockAnswer answer;
  answer.sent_ns = frame.get<std::int64_t>();
  answer.reading.ticks = frame.get<std::uint64_t>();
  answer.reading.ns = frame.get<std::int64_t>();
  frame.expect_end();
  return answer;
}

}  // namespace baton::job
