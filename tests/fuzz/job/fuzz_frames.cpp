// Bytes that pretend to be frames of an agent, a launcher or a rank: read, or refused as an error of the protocol.
#include <string_view>

#include <baton/error.hpp>

#include "fuzz_target.hpp"
#include "job/frames.hpp"
#include "job/gathering_messages.hpp"
#include "job/hosts/messages.hpp"
#include "job/hosts/rank_sight.hpp"
#include "job/hosts/trace_messages.hpp"
#include "job/rank_messages.hpp"

namespace {

using namespace baton::job;

void read(FrameReader& frame) {
  switch (frame.kind()) {
    case FrameKind::hello: static_cast<void>(decode_hello(frame)); break;
    case FrameKind::attend: static_cast<void>(decode_attend(frame)); break;
    case FrameKind::claim: static_cast<void>(decode_claim(frame)); break;
    case FrameKind::join: static_cast<void>(decode_join(frame)); break;
    case FrameKind::reachable: static_cast<void>(decode_reachable(frame)); break;
    case FrameKind::failed: FUZZ_REQUIRE(std::string_view(decode_failure(frame).error.what()).size() > 0); break;
    case FrameKind::job: {
      const JobOrder order = decode_job(frame);
      FUZZ_REQUIRE(order.host < order.hosts.size() && !order.command.empty());
      break;
    }
    case FrameKind::ended: static_cast<void>(decode_ended(frame)); break;
    case FrameKind::seen: static_cast<void>(decode_sight(frame)); break;
    case FrameKind::not_started: FUZZ_REQUIRE(std::string_view(decode_not_started(frame).what()).size() > 0); break;
    case FrameKind::output:
    case FrameKind::output_end:
    case FrameKind::room: static_cast<void>(decode_stream(frame)); break;
    case FrameKind::record: static_cast<void>(decode_record(frame)); break;
    case FrameKind::trace: FUZZ_REQUIRE(decode_trace_part(frame).bytes.size() <= baton::kChunkBytes); break;
    case FrameKind::clock: static_cast<void>(decode_clock_answer(frame)); break;
    case FrameKind::rank_end: FUZZ_REQUIRE(decode_rank_end(frame).state >= baton::wire::RankState::left); break;
    case FrameKind::welcome: {
      const Welcome welcome = decode_welcome(frame);
      for (const std::uint32_t host : welcome.host_of) FUZZ_REQUIRE(host < welcome.hosts.size());
      break;
    }
    default: break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // In two pieces, so that frames are put together, too.
  FrameAssembler assembler;
  for (const std::string_view piece : {bytes.substr(0, size / 2), bytes.substr(size / 2)}) {
    try {
      assembler.add(piece);
      while (auto frame = assembler.next()) {
        try {
          read(*frame);
        } catch (const baton::Error& error) {
          FUZZ_REQUIRE(error.code() == baton::Code::protocol);
        }
      }
    } catch (const baton::Error& error) {
      FUZZ_REQUIRE(error.code() == baton::Code::protocol);
      return 0;
    }
  }
  return 0;
}
