// What processes of one host record goes to the file of another one, whenever it is asked for.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/recorder.hpp"
#include "base/trace_reader.hpp"
#include "job/hosts/trace_collector.hpp"
#include "job/hosts/trace_source.hpp"

namespace baton::job {
namespace {

constexpr std::uint64_t kMany = 5 * kChunkEvents + 7;

/// Two ends of a connection, and a file at one of them.
class HostsTrace : public testing::Test {
 protected:
  HostsTrace()
      : path_(std::filesystem::temp_directory_path() / fmt::format("baton-hosts-{}.trace", ::getpid())),
        collector_(std::in_place, path_.string(), std::vector<std::string>{"a", "b"},
                   [this](std::uint32_t, std::string_view frame) { asked_ += frame.size(); }) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no sockets");
    agent_.emplace(
        loop_, std::make_unique<PlainChannel>(UniqueFd(ends[0])), [](FrameReader&) {}, [](const auto&) {});
    launcher_.emplace(
        loop_, std::make_unique<PlainChannel>(UniqueFd(ends[1])),
        [this](FrameReader& frame) {
          ++frames_;
          collector_->on_part(1, decode_trace_part(frame));
        },
        [](const auto&) {});
    // The second host is ten seconds behind.
    for (int i = 0; i < 2; ++i) {
      ClockReading there = read_clocks();
      there.ns -= 10'000'000'000;
      collector_->on_clock(1, {read_clocks().ns, there});
    }
  }
  ~HostsTrace() override { std::filesystem::remove(path_); }

  /// Until all that was recorded has come.
  void transfer() {
    source_.look();
    while (!source_.send_some(*agent_)) loop_.wait(Deadline::never());
    while (agent_->queued_bytes() > 0) loop_.wait(Deadline::never());
    // A last frame, so that nothing is under way.
    agent_->send(encode(TracePart{.chunk = 9999, .kind = ChunkKind::live, .process = 9999, .bytes = {}}));
    const std::uint64_t before = frames_;
    while (frames_ == before) loop_.wait(Deadline::never());
  }
  /// A process that records `count` puts, and does what `then` does.
  template <class Then>
  pid_t record(std::uint64_t count, Then&& then) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    events::start_trace(source_.path());
    const TextId window = events::text("window");
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t now = ticks();
      events::record({.begin = now, .end = now, .kind = EventKind::put, .rank = 3, .object = window, .a = i});
    }
    then();
    ::_exit(0);
  }
  static void await(pid_t child) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
  }

  std::filesystem::path path_;
  EventLoop loop_;
  TraceSource source_;
  std::size_t asked_ = 0;
  std::uint64_t frames_ = 0;
  std::optional<TraceCollector> collector_;
  std::optional<Link> agent_;
  std::optional<Link> launcher_;
};

/// The numbers of the puts, in the order of the file; each must be of rank 3 of host "b" with its text.
std::vector<std::uint64_t> puts(const std::string& path) {
  const TraceReader reader(path);
  std::vector<std::uint64_t> numbers;
  reader.for_each([&](const EventRecord& event, std::uint32_t process) {
    if (event.kind != EventKind::put) return;
    EXPECT_EQ(reader.host_of(process), 2U);
    EXPECT_EQ(event.rank, 3U);
    const std::string* const text = reader.text(process, event.object);
    EXPECT_TRUE(text != nullptr && *text == "window");
    numbers.push_back(event.a);
  });
  EXPECT_EQ(reader.hosts().size(), 2U);
  EXPECT_STREQ(reader.hosts().at(2)->name, "b");
  return numbers;
}

std::vector<std::uint64_t> first_numbers(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

TEST_F(HostsTrace, HasAllEventsOnceHoweverOftenItIsSent) {
  int pipes[2][2];
  for (auto& ends : pipes) ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = record(kMany, [&] {
    char byte = 0;
    static_cast<void>(::write(pipes[0][1], &byte, 1));
    static_cast<void>(::read(pipes[1][0], &byte, 1));
    const TextId window = events::text("window");
    for (std::uint64_t i = kMany; i < 2 * kMany; ++i) {
      const std::uint64_t now = ticks();
      events::record({.begin = now, .end = now, .kind = EventKind::put, .rank = 3, .object = window, .a = i});
    }
    ::raise(SIGKILL);
  });
  char byte = 0;
  ASSERT_EQ(::read(pipes[0][0], &byte, 1), 1);
  transfer();
  EXPECT_EQ(puts(path_.string()), first_numbers(kMany));  // while its writer lives
  ASSERT_EQ(::write(pipes[1][1], &byte, 1), 1);
  await(child);
  transfer();
  EXPECT_EQ(puts(path_.string()), first_numbers(2 * kMany));  // also what it recorded last
  transfer();
  EXPECT_EQ(puts(path_.string()), first_numbers(2 * kMany));
}

TEST_F(HostsTrace, TakesEventsFromSeveralProcesses) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) children.push_back(record(100, [] {}));
  for (const pid_t child : children) await(child);
  transfer();
  EXPECT_EQ(puts(path_.string()).size(), 300U);
  EXPECT_EQ(TraceReader(path_.string()).header().processes.load(), 3U + 1U);  // and that of the last frame
}

TEST_F(HostsTrace, WhatDidNotComeIsNotThere) {
  std::vector<EventRecord> events(kChunkEvents);
  const auto send = [&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      events[i] = {.begin = 1 + first + i, .kind = EventKind::put, .rank = 3, .a = first + i};
    collector_->on_part(1, {.chunk = 1,
                            .kind = ChunkKind::live,
                            .first = first,
                            .bytes = {reinterpret_cast<const char*>(events.data()), count * sizeof(EventRecord)}});
  };
  const auto numbers = [&] {
    std::vector<std::uint64_t> found;
    TraceReader(path_.string()).for_each([&](const EventRecord& event, std::uint32_t) { found.push_back(event.a); });
    return found;
  };
  send(0, 3);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{0, 1, 2}));
  send(2, 3);  // some of them again
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  send(5000, 2);  // those between were overwritten before they were sent
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{5000, 5001}));
  send(5002, 1);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{5000, 5001, 5002}));
}

TEST_F(HostsTrace, WhatMakesNoSenseIsRefused) {
  const auto refused = [](const TracePart& part) {
    const std::string bytes = encode(part);
    FrameAssembler assembler;
    assembler.add(bytes);
    auto frame = assembler.next();
    try {
      static_cast<void>(decode_trace_part(*frame));
      return false;
    } catch (const Error& error) {
      return error.code() == Code::protocol;
    }
  };
  const std::string bytes(kChunkBytes, 'x');
  const std::string_view some(bytes);
  EXPECT_FALSE(refused({.kind = ChunkKind::live, .bytes = some.substr(0, 64)}));
  EXPECT_TRUE(refused({.kind = ChunkKind::live, .bytes = some.substr(0, 63)}));
  EXPECT_TRUE(refused({.kind = ChunkKind::live, .bytes = some.substr(0, (kChunkEvents + 1) * 64)}));
  EXPECT_TRUE(refused({.kind = ChunkKind::full, .bytes = some.substr(0, 64)}));
  EXPECT_TRUE(refused({.kind = ChunkKind::texts, .first = sizeof TextChunk::text - 5, .bytes = some.substr(0, 6)}));
  EXPECT_TRUE(refused({.kind = ChunkKind::texts, .first = ~std::uint64_t{0}, .bytes = some.substr(0, 6)}));
  EXPECT_TRUE(refused({.kind = ChunkKind::host, .bytes = {}}));
  EXPECT_TRUE(refused({.kind = static_cast<ChunkKind>(77), .bytes = {}}));
  collector_->on_part(1, {.chunk = 1, .kind = ChunkKind::live, .bytes = {}});
  EXPECT_THROW(collector_->on_part(1, {.chunk = 1, .kind = ChunkKind::texts, .bytes = {}}), Error);
}

TEST_F(HostsTrace, ClocksAreAskedInTurn) {
  collector_->compare_clocks(0);
  int answers = 0;
  for (; collector_->is_comparing(0); ++answers) {
    const std::size_t before = asked_;
    ASSERT_GT(before, 0U);
    const ClockReading now = read_clocks();
    collector_->on_clock(0, {now.ns, now});
    EXPECT_EQ(asked_ > before, collector_->is_comparing(0));
  }
  EXPECT_GE(answers, 8);
  const TraceReader reader(path_.string());
  EXPECT_EQ(reader.hosts().at(1)->samples_taken.load(), static_cast<std::uint64_t>(answers));
}

}  // namespace
}  // namespace baton::job
