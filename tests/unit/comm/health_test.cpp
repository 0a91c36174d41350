#include "comm/health.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include <baton/error.hpp>

#include "comm/control_setup.hpp"
#include "comm/wait_record.hpp"

namespace baton::comm {
namespace {

ControlSegment control_of(std::uint32_t ranks, Hosting hosting = Hosting::processes) {
  ControlSegment control = make_control(ranks, "job", make_token(), hosting, 2);
  for (std::uint32_t r = 0; r < ranks; ++r) enter_rank(control.header(), r, static_cast<std::uint32_t>(::getpid()), 1);
  return control;
}

TEST(Health, DeathIsNotedOnceWithItsCause) {
  const ControlSegment control = control_of(2);
  wire::ControlHeader& header = control.header();
  EXPECT_EQ(state_of(header, 1), wire::RankState::live);
  EXPECT_TRUE(mark_dead(header, 1, wire::EndKind::unknown, 0));
  EXPECT_EQ(state_of(header, 1), wire::RankState::dead);
  EXPECT_EQ(header.changes.load(), 1U);
  EXPECT_EQ(describe_end(header, 1), "cause unknown");
  // The first cause stays, whatever is said later.
  EXPECT_FALSE(mark_dead(header, 1, wire::EndKind::signal, SIGKILL));
  EXPECT_EQ(describe_end(header, 1), "SIGKILL");
  EXPECT_FALSE(mark_dead(header, 1, wire::EndKind::exit_code, 3));
  EXPECT_EQ(describe_end(header, 1), "SIGKILL");
  EXPECT_EQ(header.changes.load(), 1U);
}

TEST(Health, RanksOfOtherHostsNeverSeemToLiveHere) {
  constexpr std::uint32_t kRanks = 20'000;
  const ControlSegment control = make_control(kRanks, "job", make_token(), Hosting::processes, 2);
  std::atomic<std::uint32_t> entering{1};
  int seen = 0;
  std::thread watcher([&] {
    for (std::uint32_t rank = entering; rank < kRanks; rank = entering) {
      seen += lives_here(control.header(), rank) ? 1 : 0;
    }
  });
  for (std::uint32_t rank = 1; rank < kRanks; entering = ++rank) enter_far_rank(control.header(), rank, 4711, "b");
  watcher.join();
  EXPECT_EQ(seen, 0);

  enter_rank(control.header(), 0, static_cast<std::uint32_t>(::getpid()), 1);
  EXPECT_TRUE(lives_here(control.header(), 0));
  mark_dead(control.header(), 0, wire::EndKind::exit_code, 0);
  EXPECT_FALSE(lives_here(control.header(), 0));
}

TEST(Health, ARankThatLeftIsNotDead) {
  const ControlSegment control = control_of(2);
  mark_left(control.header(), 0, FutexScope::shared);
  EXPECT_FALSE(mark_dead(control.header(), 0, wire::EndKind::exit_code, 0));
  EXPECT_EQ(state_of(control.header(), 0), wire::RankState::left);
  mark_left(control.header(), 0, FutexScope::shared);
  EXPECT_EQ(control.header().changes.load(), 1U);
  EXPECT_EQ(describe_activity(control.header(), 0), "has left");
}

TEST(Health, TellsCauseAndOccupation) {
  const ControlSegment control = control_of(4);
  wire::ControlHeader& header = control.header();
  mark_dead(header, 0, wire::EndKind::exit_code, 3);
  EXPECT_EQ(describe_end(header, 0), "exit code 3");
  mark_dead(header, 1, wire::EndKind::error, 0);
  wire::rank_block(header, 1).activity.store(static_cast<std::uint32_t>(wire::Operation::putting));
  EXPECT_EQ(describe_end(header, 1), "it threw an error during or after a put");
  WaitEntry wait;
  wait.begin(wire::rank_block(header, 2), {wire::Operation::waiting, "w", 3, WaitCmp::ge, 7, monotonic_ns()});
  mark_dead(header, 2, wire::EndKind::signal, SIGSEGV);
  EXPECT_EQ(describe_end(header, 2), "SIGSEGV while it waited for signal 3 of \"w\" >= 7");
  EXPECT_EQ(describe_activity(header, 2), "died: SIGSEGV while it waited for signal 3 of \"w\" >= 7");
  EXPECT_EQ(describe_activity(header, 3), "is running");
  EXPECT_EQ(describe_process(header, 3), "pid " + std::to_string(::getpid()));
}

TEST(Health, TellsTheFirstLineOfWhatARankThrew) {
  const ControlSegment control = control_of(3);
  wire::ControlHeader& header = control.header();
  EXPECT_TRUE(mark_failed(header, 0, {Code::mismatch, "ValueError: 7 is odd\nsecond line"}, FutexScope::shared));
  EXPECT_EQ(describe_end(header, 0), "it threw ValueError: 7 is odd");
  EXPECT_EQ(describe_activity(header, 0), "died: it threw ValueError: 7 is odd");
  mark_dead(header, 0, wire::EndKind::signal, SIGABRT);
  EXPECT_EQ(describe_end(header, 0), "it threw ValueError: 7 is odd") << "what came first is the cause";
  EXPECT_TRUE(mark_failed(header, 1, {}, FutexScope::shared));
  EXPECT_EQ(describe_end(header, 1), "it threw an error");
  const std::string exact(wire::kReasonBytes, 'x');
  EXPECT_TRUE(mark_failed(header, 2, {Code::ok, exact}, FutexScope::shared));
  EXPECT_EQ(describe_end(header, 2), "it threw " + exact);
  mark_failed(header, 2, {Code::ok, exact + "y\x1b"}, FutexScope::shared);
  EXPECT_EQ(describe_end(header, 2), "it threw " + exact.substr(4) + " ...");
}

TEST(Health, RanksOfOneProcessHaveNoPidsToTell) {
  const ControlSegment control = control_of(2, Hosting::fibers);
  EXPECT_EQ(describe_process(control.header(), 1), "");
}

TEST(Health, AbsentRanksAreSaidToBe) {
  const ControlSegment control = make_control(1, "job", make_token(), Hosting::processes, 2);
  EXPECT_EQ(describe_activity(control.header(), 0), "has not joined");
}

TEST(AdoptControl, TakesWhatFitsAndNothingElse) {
  ControlSegment made = make_control(3, "job", make_token(), Hosting::processes, 2);
  EXPECT_EQ(adopt_control(UniqueFd(::dup(made.fd.get())), 3).header().rank_count, 3U);
  EXPECT_THROW(static_cast<void>(adopt_control(UniqueFd(::dup(made.fd.get())), 4)), Error);
  made.header().version = 99;
  EXPECT_THROW(static_cast<void>(adopt_control(UniqueFd(::dup(made.fd.get())), 3)), Error);
}

}  // namespace
}  // namespace baton::comm
