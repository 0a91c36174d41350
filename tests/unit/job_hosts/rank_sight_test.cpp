// A rank as its host sees it, on its way to another host.
#include "job/hosts/rank_sight.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <baton/error.hpp>

#include "base/liveness.hpp"
#include "base/text_arena.hpp"
#include "comm/control_setup.hpp"
#include "comm/wait_record.hpp"
#include "job/hosts/picture_keeper.hpp"

namespace baton::job {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// A frame as it comes.
template <class Use>
void receive(const std::string& bytes, const Use& use) {
  FrameAssembler assembler;
  assembler.add(bytes);
  auto frame = assembler.next();
  ASSERT_TRUE(frame.has_value());
  use(*frame);
}

class RankSightTest : public testing::Test {
 protected:
  RankSightTest() {
    const ProcessId me = this_process();
    comm::enter_rank(there_.header(), 2, me.pid, me.start_time);
    comm::WaitDescription wait;
    wait.operation = wire::Operation::waiting;
    wait.object = "scratch";
    wait.index = 3;
    wait.needs = 2;
    wait.since_ns = comm::monotonic_ns() - 5 * kSecond;
    wire::WaitRecord& record = wire::rank_block(there_.header(), 2).waits[0];
    EXPECT_TRUE(comm::write_wait(record, wait, comm::WaitingDomain("world", {0, 1, 2})));
    EventArea& area = *wire::event_area(there_.header(), 2);
    EXPECT_TRUE(append_text(area.text_header, area.text, 7, "scratch"));
    RingWriter ring(area.rings[0].ring, area.rings[0].slots, kRingEvents, kEventClaim);
    EventRecord event;
    event.begin = ticks();
    event.kind = EventKind::wait;
    event.rank = 2;
    event.object = 7;
    ring.write(words_of(event));
  }

  [[nodiscard]] comm::ControlView view() const { return {.header = &there_.header(), .bytes = there_.memory->bytes()}; }

  comm::ControlSegment there_ = comm::make_control(3, 1, "job/1", comm::make_token(), comm::Hosting::processes, 1);
  EventLoop loop_;
  PictureKeeper picture_{loop_, "job", {"a", "a", "b"}, [] {}};
};

TEST_F(RankSightTest, ARankIsSeenAsItsHostSeesIt) {
  receive(encode_sight(view(), 2, TickScale()), [&](FrameReader& frame) { picture_.draw(frame); });
  const auto seen = picture_.look(2);
  ASSERT_TRUE(seen && seen->wait);
  EXPECT_EQ(seen->host, "b");
  EXPECT_EQ(seen->process.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(comm::describe(*seen->wait), "signal 3 of \"scratch\" >= 2");
  // A machine that is very busy may take a while between here and there.
  EXPECT_NEAR(static_cast<double>(comm::monotonic_ns() - seen->wait->since_ns), 5e9, 4e9);
  EXPECT_EQ(picture_.view().processes[2], comm::ProcessSeen::runs);
  EXPECT_FALSE(picture_.look(0));
  const LastEvents events = read_area(*wire::event_area(*picture_.view().header, 2));
  ASSERT_EQ(events.events.size(), 1U);
  EXPECT_EQ(events.text(events.events[0].object), "scratch");
  EXPECT_EQ(events.events[0].end, 0U);
  const auto age = static_cast<std::int64_t>(ticks() - events.events[0].begin);
  EXPECT_GT(age, 0);
}

TEST_F(RankSightTest, WhatMakesNoSenseIsRefused) {
  const std::string whole = encode_sight(view(), 2, TickScale());
  // A rank that is not there, an impossible state, a block that is too short, events beyond the end.
  const auto refused = [&](std::size_t at, char value) {
    std::string bytes = whole;
    bytes[kFrameHeader + at] = value;
    receive(bytes, [&](FrameReader& frame) { EXPECT_THROW(picture_.draw(frame), Error) << at; });
  };
  refused(0, 3);
  refused(4, 100);
  refused(5, 1);
  refused(5 + 4 + offsetof(wire::RankBlock, host) + 3, 1);
  EXPECT_THROW(picture_.note_silence(3), Error);
}

TEST_F(RankSightTest, NobodyIsStuckBecauseOfRanksThatWereNotSeen) {
  receive(encode_sight(view(), 2, TickScale()), [&](FrameReader& frame) { picture_.draw(frame); });
  picture_.note_silence(0);
  picture_.note_silence(1);
  std::string report;
  for (const std::string& line : picture_.explain()) report += line + "\n";
  EXPECT_NE(report.find("ranks 0-1 are on host a, rank 2 is on host b"), std::string::npos) << report;
  EXPECT_NE(report.find("ranks 0-1: not known: its host did not answer"), std::string::npos) << report;
  EXPECT_EQ(report.find("cannot go on"), std::string::npos) << report;
}

}  // namespace
}  // namespace baton::job
