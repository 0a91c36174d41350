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
