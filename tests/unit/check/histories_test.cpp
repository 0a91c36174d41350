// What becomes of recorded events: who made them, and what they came after.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/checked_order.hpp"
#include "check/recorded_history.hpp"

namespace baton::check::test {
namespace {

constexpr std::uint64_t kData = 100;
/// Of the first chip of its process.
constexpr Activity kFirstKernel = Activity{1} << 40U | 1;
constexpr Activity kSecondKernel = kFirstKernel + 1;

/// A trace without events: those that a test tells are of no file.
class EmptyTrace {
 public:
  EmptyTrace()
      : path_(std::filesystem::temp_directory_path() / ("baton-empty-" + std::to_string(::getpid()) + ".trace")) {
    events::start_trace(path_.string(), EventLevel::check);
    events::stop_trace();
  }
  EmptyTrace(const EmptyTrace&) = delete;
  EmptyTrace& operator=(const EmptyTrace&) = delete;
  ~EmptyTrace() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// Tells events of several processes one after the other, as their times would.
class Story {
 public:
  /// An activity of a rank of a process.
  class Teller {
   public:
    Teller(Story& story, const Origin& origin) : story_(&story), origin_(origin) {}

    Teller& submits(std::uint64_t chip, std::uint64_t task) { return hands(submitted(chip, task)); }
    Teller& begins(std::uint64_t chip, std::uint64_t task) { return add(EventKind::begun, task, chip); }
    Teller& ends(std::uint64_t chip, std::uint64_t task) { return hands(ended(chip, task)).hands(tasks_token(chip)); }
    Teller& awaits_all(std::uint64_t chip) { return add(EventKind::take, tasks_token(chip)); }
    /// Task `later` waits for task `earlier`.
    Teller& edge(std::uint64_t chip, std::uint64_t later, std::uint64_t earlier) {
      return add(EventKind::edge, later, earlier, chip);
    }
    Teller& writes(std::uint64_t memory) {
      EventRecord event = made(EventKind::touch);
      pack({.memory = memory, .how = static_cast<std::uint8_t>(CheckedUse::write), .last = 8}, event);
      story_->history_.add(event, origin_.process);
      return *this;
    }

   private:
    static std::uint64_t submitted(std::uint64_t chip, std::uint64_t task) {
      return task_token(chip, task, TaskMoment::submitted);
    }
    static std::uint64_t ended(std::uint64_t chip, std::uint64_t task) {
      return task_token(chip, task, TaskMoment::ended);
    }
    [[nodiscard]] EventRecord made(EventKind kind) const {
      return {.end = origin_.activity, .kind = kind, .rank = origin_.rank};
    }
    Teller& hands(std::uint64_t token) { return add(EventKind::hand, token); }
    Teller& add(EventKind kind, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
      EventRecord event = made(kind);
      event.a = a;
      event.b = b;
      event.c = c;
      story_->history_.add(event, origin_.process);
      return *this;
    }

    Story* story_;
    Origin origin_;
  };

  [[nodiscard]] Teller of(const Origin& origin) { return {*this, origin}; }
  [[nodiscard]] std::size_t races() {
    history_.finish();
    return finder_.findings().size();
  }

 private:
  EmptyTrace empty_;
  TraceReader trace_{empty_.path()};
  RaceFinder finder_;
  RecordedHistory history_{trace_, finder_};
};

/// Two nodes run beside each other, each with a chip that is its rank 0. When one has waited for its tasks, a kernel of
/// the other goes on as the one that it was.
TEST(Histories, RanksOfTheSameNumberInTwoProcessesAreTwo) {
  constexpr std::uint64_t kChip = 17;
  constexpr std::uint64_t kOtherChip = 18;
  Story story;
  auto program = story.of({.process = 1});
  auto kernel = story.of({.process = 1, .activity = kFirstKernel});
  auto other_program = story.of({.process = 2});
  auto other_kernel = story.of({.process = 2, .activity = kSecondKernel});
  program.submits(kChip, 1);
  other_program.submits(kOtherChip, 1);
  kernel.begins(kChip, 1).writes(kData);
  other_kernel.begins(kOtherChip, 1).ends(kOtherChip, 1);
  other_program.awaits_all(kOtherChip);
  kernel.writes(kData).ends(kChip, 1);
  program.awaits_all(kChip).writes(kData);
  EXPECT_EQ(story.races(), 0U);
}

/// What two processes do is in no order because their ranks have the same number.
TEST(Histories, RanksOfTheSameNumberInTwoProcessesAreNotInOrder) {
  Story story;
  story.of({.process = 1}).writes(kData);
  story.of({.process = 2}).writes(kData);
  EXPECT_EQ(story.races(), 1U);
}

/// A node has two runs at once: the end of one does not undo the edges of the other.
TEST(Histories, EdgesOfATaskAreKeptUntilItBegins) {
  constexpr std::uint64_t kNode = 17;
  Story story;
  auto host = story.of({.process = 1, .rank = kNoRank});
  auto chip = story.of({.process = 2, .rank = 0});
  auto other_chip = story.of({.process = 3, .rank = 1});
  host.submits(kNode, 1).submits(kNode, 2).edge(kNode, 2, 1);
  chip.begins(kNode, 1).writes(kData);
  host.submits(kNode, 3);
  other_chip.begins(kNode, 3).ends(kNode, 3);
  host.awaits_all(kNode);  // the run of task 3
  chip.ends(kNode, 1);
  other_chip.begins(kNode, 2).writes(kData);
  EXPECT_EQ(story.races(), 0U);
}

}  // namespace
}  // namespace baton::check::test
