#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/recorder.hpp"
#include "base/trace_file.hpp"
#include "trace/trace.hpp"

namespace baton::trace {
namespace {

class File {
 public:
  File() : path_(std::filesystem::temp_directory_path() / fmt::format("baton-read-{}.trace", ::getpid())) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    events::stop_trace();
    std::filesystem::remove(path_);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// How many ticks that is.
std::uint64_t ticks_in(std::chrono::nanoseconds time) {
  const TickScale scale = scale_since_start();
  constexpr std::uint64_t kMany = std::uint64_t{1} << 30U;
  const std::uint64_t now = ticks();
  return static_cast<std::uint64_t>(static_cast<double>(time.count()) * double{kMany} /
                                    static_cast<double>(scale.nanoseconds(now) - scale.nanoseconds(now - kMany)));
}

void record_put(std::uint32_t rank, std::uint64_t number) {
  const std::uint64_t now = ticks();
  events::record({.begin = now,
                  .end = ticks(),
                  .kind = EventKind::put,
                  .rank = rank,
                  .object = events::text("window"),
                  .a = number});
}

std::uint64_t count(const Trace& trace, std::uint32_t rank) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      trace.spans, [&](const Span& span) { return span.kind == EventKind::put && span.lane.rank == rank; }));
}

TEST(ReadTrace, HasAllThreadsAndProcessesOnOneClock) {
  const File file;
  events::start_trace(file.path());
  constexpr std::uint64_t kEvents = 2 * kChunkEvents + 7;
  std::thread other([] {
    for (std::uint64_t i = 0; i < kEvents; ++i) record_put(0, i);
  });
  other.join();
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 5; ++i) record_put(1, 1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  record_put(2, 1);
  // While it is being written.
  const Trace trace = read_trace(file.path());
  EXPECT_EQ(count(trace, 0), kEvents);
  EXPECT_EQ(count(trace, 1), 5U);
  EXPECT_EQ(count(trace, 2), 1U);
  EXPECT_EQ(trace.spans.front().begin, 0);
  EXPECT_EQ(trace.spans.back().lane.rank, 2U);
  EXPECT_EQ(trace.text(trace.spans.back().object), "window");
  EXPECT_EQ(trace.processes, 2U);
}

/// A wait of 5 us that began at `at`.
void record_attempt(std::uint64_t at, std::uint64_t needs, EventOutcome outcome, std::uint16_t lane = kProgramLane) {
  const std::uint64_t length = ticks_in(std::chrono::microseconds(5));
  events::record({.begin = at,
                  .end = at + length,
                  .kind = EventKind::wait,
                  .outcome = outcome,
                  .lane = lane,
                  .rank = 4,
                  .c = needs,
                  .d = at});  // what the signal has then differs
}

TEST(ReadTrace, AWaitThatIsMadeAgainAndAgainIsOne) {
  const File file;
  events::start_trace(file.path());
  const std::uint64_t now = ticks();
  const std::uint64_t step = ticks_in(std::chrono::microseconds(20));
  for (std::uint64_t i = 0; i < 9; ++i) record_attempt(now + i * step, 7, EventOutcome::expired);
  record_attempt(now + step, 7, EventOutcome::expired, core_lane(0));  // somebody else's
  record_attempt(now + 9 * step, 7, EventOutcome::done);
  record_attempt(now + 10 * step, 7, EventOutcome::done);  // again, not any more
  record_attempt(now + 11 * step, 8, EventOutcome::expired);
  record_attempt(now + 12 * step, 9, EventOutcome::done);  // for something else
  record_attempt(now + 13 * step, 9, EventOutcome::expired);
  record_attempt(now + 13 * step + ticks_in(std::chrono::seconds(1)), 9, EventOutcome::done);  // much later
  events::stop_trace();
  const Trace trace = read_trace(file.path());
  std::vector<std::pair<std::uint64_t, std::int64_t>> waits;  // what it needs, and how many steps it lasted
  for (const Span& span : trace.spans) {
    if (span.kind == EventKind::wait) waits.emplace_back(span.c, (span.length() + 10'000) / 20'000);
  }
  EXPECT_THAT(waits,
              testing::ElementsAre(testing::Pair(7, 9), testing::Pair(7, 0), testing::Pair(7, 0), testing::Pair(8, 0),
                                   testing::Pair(9, 0), testing::Pair(9, 0), testing::Pair(9, 0)));
}

TEST(ReadTrace, AWaitThatDidNotEndIsOpenAndOneThatDidIsThereOnce) {
  const File file;
  events::start_trace(file.path());
  const std::uint64_t now = ticks();
  events::record({.begin = now, .kind = EventKind::wait, .rank = 0, .object = events::text("a")});
  events::record({.begin = now, .kind = EventKind::wait, .rank = 1, .object = events::text("b")});
  events::record({.begin = now, .end = ticks(), .kind = EventKind::wait, .rank = 1, .object = events::text("b")});
  events::stop_trace();
  const Trace trace = read_trace(file.path());
  std::vector<bool> open;
  for (const Span& span : trace.spans) {
    if (span.kind == EventKind::wait) open.push_back(span.open);
  }
  EXPECT_THAT(open, testing::UnorderedElementsAre(true, false));
}

TEST(ReadTrace, WhatAProcessCompilesItsOnlyRankCompiles) {
  const auto ranks_of_compiling = [](std::initializer_list<std::uint32_t> ranks) {
    const File file;
    events::start_trace(file.path());
    const std::uint64_t now = ticks();
    events::record({.begin = now, .end = ticks(), .kind = EventKind::compile, .object = events::text("a.cpp")});
    for (const std::uint32_t rank : ranks) record_put(rank, 1);
    events::stop_trace();
    std::vector<std::uint32_t> found;
    for (const Span& span : read_trace(file.path()).spans) {
      if (span.kind == EventKind::compile) found.push_back(span.lane.rank);
    }
    return found;
  };
  EXPECT_THAT(ranks_of_compiling({3, 3}), testing::ElementsAre(3U));
  EXPECT_THAT(ranks_of_compiling({3, 4}), testing::ElementsAre(kNoRank));
  EXPECT_THAT(ranks_of_compiling({}), testing::ElementsAre(kNoRank));
}

TEST(ReadTrace, RefusesWhatIsNoTrace) {
  const File file;
  EXPECT_THROW(static_cast<void>(read_trace(file.path())), Error);
  std::ofstream(file.path()) << "short";
  EXPECT_THROW(static_cast<void>(read_trace(file.path())), Error);
  std::ofstream(file.path()) << std::string(2 * kTraceHeaderBytes, 'x');
  EXPECT_THROW(static_cast<void>(read_trace(file.path())), Error);
}

TEST(ReadTrace, PassesOverChunksThatWereNotWritten) {
  const File file;
  events::start_trace(file.path());
  record_put(0, 1);
  events::stop_trace();
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) + kChunkBytes);
  const Trace trace = read_trace(file.path());
  EXPECT_EQ(count(trace, 0), 1U);
  EXPECT_EQ(trace.lost_chunks, 1U);
}

}  // namespace
}  // namespace baton::trace
