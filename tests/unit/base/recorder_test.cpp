#include "base/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/trace_file.hpp"
#include "expect_error.hpp"

namespace baton {
namespace {

using testing::HasSubstr;

/// A kind of the level `last`.
EventRecord marked(std::uint64_t number) {
  const std::uint64_t now = ticks();
  return {.begin = now, .end = now, .kind = EventKind::left, .rank = 7, .a = number};
}
/// A kind of the level `trace`.
EventRecord traced(std::uint64_t number) {
  EventRecord event = marked(number);
  event.kind = EventKind::put;
  return event;
}

std::set<std::uint64_t> numbers_of(const std::vector<EventRecord>& events) {
  std::set<std::uint64_t> numbers;
  for (const EventRecord& event : events) {
    if (event.rank == 7) numbers.insert(event.a);
  }
  return numbers;
}

/// A file that goes with the test.
class Path {
 public:
  Path() : path_(std::filesystem::temp_directory_path() / fmt::format("baton-recorder-{}.trace", ::getpid())) {}
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  ~Path() {
    events::stop_trace();
    std::filesystem::remove(path_);
  }
  [[nodiscard]] std::string text() const { return path_.string(); }

  /// All events in the file.
  [[nodiscard]] std::vector<EventRecord> events() const {
    std::ifstream file(path_, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<EventRecord> events;
    for (std::size_t at = kTraceHeaderBytes; at + kChunkBytes <= bytes.size(); at += kChunkBytes) {
      // As large as the file's, and aligned.
      const auto chunk = std::make_unique<EventChunk>();
      std::memcpy(static_cast<void*>(chunk.get()), bytes.data() + at, sizeof(EventChunk));
      EXPECT_EQ(chunk->header.magic, kChunkMagic);
      if (chunk->header.kind == ChunkKind::texts) continue;
      const std::uint64_t first = chunk->header.kind == ChunkKind::live ? chunk->header.first.load() : 0;
      for (std::uint64_t i = first; i < chunk->ring.written; ++i) {
        RingWriter::Words words{};
        std::ranges::copy(chunk->slots[i % kChunkEvents].words, words.begin());
        events.push_back(event_of(words));
      }
    }
    return events;
  }

 private:
  std::filesystem::path path_;
};

TEST(Recorder, KeepsTheLastEventsOfThreadsThatHaveEnded) {
  std::thread([] { events::record(marked(1001)); }).join();
  std::thread([] { events::record(marked(1002)); }).join();
  EXPECT_THAT(numbers_of(events::last_events().events), testing::IsSupersetOf({1001U, 1002U}));
}

TEST(Recorder, WithoutATraceTakesOnlyWhatHappensSeldom) {
  EXPECT_TRUE(events::wants(EventKind::notify));
  EXPECT_FALSE(events::wants(EventKind::put));
  EXPECT_FALSE(events::tracing());
}

/// As windows do it. Whether it was no new event.
bool notify(const events::NotifyKey& key, std::uint64_t now, std::uint64_t after) {
  if (events::notified_again(key, now, after)) return true;
  events::record({.begin = now, .end = now, .kind = EventKind::notify, .rank = key.rank, .b = key.signal, .c = after});
  return false;
}

std::vector<EventRecord> notifies_of(std::uint32_t rank) {
  std::vector<EventRecord> events = events::last_events().events;
  std::erase_if(events,
                [&](const EventRecord& event) { return event.kind != EventKind::notify || event.rank != rank; });
  return events;
}

TEST(Recorder, ANotifyLikeOneOfTheLastBringsItUpToDate) {
  const events::NotifyKey key{.signal = 3, .rank = 21, .value = 1};
  events::NotifyKey other = key;
  other.signal = 4;
  EXPECT_FALSE(notify(key, 100, 1));
  EXPECT_FALSE(notify(other, 101, 1));
  EXPECT_TRUE(notify(key, 102, 2));
  EXPECT_TRUE(notify(other, 103, 2));
  EXPECT_TRUE(notify(key, 104, 3));
  const std::vector<EventRecord> events = notifies_of(21);
  ASSERT_EQ(events.size(), 2U);  // by their times
  EXPECT_EQ((std::array{events[0].b, events[0].end, events[0].c}), (std::array<std::uint64_t, 3>{4, 103, 2}));
  EXPECT_EQ((std::array{events[1].b, events[1].begin, events[1].end, events[1].c}),
            (std::array<std::uint64_t, 4>{3, 104, 104, 3}));
}

TEST(Recorder, ANotifyIsANewEventBeforeTheLastOfItsKindIsLost) {
  const events::NotifyKey key{.rank = 22};
  std::uint64_t after = 0;
  for (int round = 0; round < 10; ++round) {
    for (std::uint64_t i = 0; i < kRingEvents / 3; ++i) events::record(marked(i));
    static_cast<void>(notify(key, ticks(), ++after));
    ASSERT_FALSE(notifies_of(22).empty());
    EXPECT_EQ(notifies_of(22).back().c, after);
  }
}

TEST(Trace, HasEachNotify) {
  const Path path;
  const events::NotifyKey key{.rank = 23};
  static_cast<void>(notify(key, ticks(), 1));
  events::start_trace(path.text());
  for (std::uint64_t after = 2; after < 7; ++after) EXPECT_FALSE(notify(key, ticks(), after));
  events::stop_trace();
  EXPECT_EQ(std::ranges::count(path.events(), 23U, &EventRecord::rank), 5);
}

TEST(Recorder, ATextHasOneNumber) {
  static const char name[] = "a kernel";
  EXPECT_EQ(events::text("a kernel"), events::text_of(name));
  EXPECT_EQ(events::text_of(name), events::text_of(name));
  EXPECT_NE(events::text("another"), events::text("a kernel"));
  EXPECT_EQ(events::text_of(Place{}), 0U);
  EXPECT_EQ(events::text_of(Place{"relay.cpp", 20}), events::text("relay.cpp:20"));
  EXPECT_EQ(events::last_events().text(events::text_of(Place{"relay.cpp", 20})), "relay.cpp:20");
}

TEST(Recorder, ANameAtTheAddressOfAnotherIsNotTakenForIt) {
  std::array<char, 8> memory{"first"};
  const TextId first = events::text_of(memory.data());
  memory = {"other"};
  EXPECT_NE(events::text_of(memory.data()), first);
}

TEST(Trace, HasTheEventsOfAllThreadsAndMoreThanAChunk) {
  const Path path;
  events::start_trace(path.text());
  EXPECT_TRUE(events::wants(EventKind::put));
  EXPECT_EQ(events::trace_path(), path.text());
  constexpr std::uint64_t kEvents = 3 * kChunkEvents;
  std::thread other([] {
    for (std::uint64_t i = 0; i < kEvents; ++i) events::record(traced(i));
  });
  for (std::uint64_t i = kEvents; i < 2 * kEvents; ++i) events::record(traced(i));
  other.join();
  events::stop_trace();
  events::record(traced(2 * kEvents));
  const auto numbers = numbers_of(path.events());
  EXPECT_EQ(numbers.size(), 2 * kEvents);
  EXPECT_EQ(*numbers.rbegin(), 2 * kEvents - 1);
}

TEST(Trace, BeginsAnewAndRefusesASecondOne) {
  const Path path;
  events::start_trace(path.text());
  events::record(traced(1));
  const auto error = error_of([&] { events::start_trace(path.text()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::invalid_argument);
  EXPECT_THAT(error->message(), HasSubstr("a trace is being written"));
  events::stop_trace();
  events::start_trace(path.text());
  events::record(traced(2));
  events::stop_trace();
  EXPECT_EQ(numbers_of(path.events()), std::set<std::uint64_t>{2});
}

TEST(Trace, OfAChildThatDiesIsInTheFile) {
  const Path path;
  events::start_trace(path.text());
  events::record(traced(1));
  const pid_t child = ::fork();
  if (child == 0) {
    events::record(traced(2));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  events::record(traced(3));
  events::stop_trace();
  EXPECT_EQ(numbers_of(path.events()), (std::set<std::uint64_t>{1, 2, 3}));
}

TEST(Trace, WhatCannotBeAFileIsRefused) {
  const auto error = error_of([] { events::start_trace("/nonexistent/folder/run.trace"); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message(), HasSubstr("/nonexistent/folder/run.trace"));
  EXPECT_FALSE(events::tracing());
}

/// Last: this process shares its rings from then on.
TEST(SharedEvents, AreReadByOthersAfterADeath) {
  const std::size_t bytes = sizeof(EventArea);
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(address, MAP_FAILED);
  auto& area = *static_cast<EventArea*>(address);
  const pid_t child = ::fork();
  if (child == 0) {
    events::record(marked(1));
    events::share(std::make_shared<int>(0), area);
    EventRecord event = marked(2);
    event.kind = EventKind::notify;
    event.object = events::text("flags");
    events::record(event);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const LastEvents last = read_area(area);
  EXPECT_THAT(numbers_of(last.events), testing::IsSupersetOf({1U, 2U}));
  EXPECT_THAT(describe(last.events.back(), last), HasSubstr("rank 7 notified signal 0 of \"flags\" at rank 2"));
  ::munmap(address, bytes);
}

}  // namespace
}  // namespace baton
