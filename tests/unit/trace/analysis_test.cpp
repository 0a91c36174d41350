#include "trace/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "made_trace.hpp"

namespace baton::trace {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Analysis, AWaitIsJoinedToTheNotifyThatEndedIt) {
  MadeTrace made;
  const Text window = made.text("flags");
  made.wait(0, 0, 100, window, 2);
  made.notify(1, 40, window, 0, 1);  // not enough
  made.notify(2, 95, window, 0, 2);
  made.notify(1, 120, window, 0, 3);  // too late
  const Trace& trace = made.done();
  const Analysis analysis = analyse(trace);
  ASSERT_EQ(analysis.notifies.size(), 1U);
  EXPECT_EQ(trace.spans[analysis.notifies[0].from].lane.rank, 2U);
  EXPECT_EQ(analysis.notifies[0].left, 95);
  EXPECT_EQ(analysis.notifies[0].arrived, 100);
  EXPECT_EQ(analysis.ranks.at(0).waited_for.at(2), 100);
}

TEST(Analysis, AnArrowNeverRunsBackwards) {
  MadeTrace made;
  const Text window = made.text("flags");
  made.wait(0, 0, 100, window, 1);
  made.notify(1, 100, window, 0, 1);
  const Analysis analysis = analyse(made.done());
  ASSERT_EQ(analysis.notifies.size(), 1U);
  EXPECT_GE(analysis.notifies[0].arrived, analysis.notifies[0].left);
}

TEST(Analysis, ABarrierWaitsForTheLastOne) {
  MadeTrace made;
  const Text domain = made.text("world");
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    Span& span = made.add(EventKind::barrier, rank, rank == 1 ? 70 : 10, 80);
    span.object = domain;
    span.a = 1;
    span.b = 3;
  }
  const Analysis analysis = analyse(made.done());
  EXPECT_EQ(analysis.ranks.at(0).waited_for.at(1), 70);
  EXPECT_EQ(analysis.ranks.at(2).waited_for.at(1), 70);
  EXPECT_TRUE(analysis.ranks.at(1).waited_for.empty()) << "the last one waits for nobody";
}

TEST(Summary, CompilingIsNotTheWorkOfKernels) {
  MadeTrace made;
  made.add(EventKind::compile, 0, 0, 60).object = made.text("add.cpp");
  made.task(0, 0, 1, 60, 100, made.text("add"));
  const Analysis analysis = analyse(made.done());
  EXPECT_EQ(analysis.ranks.at(0).kernels, 40);
  const std::string text = summary(made.done(), analysis);
  const std::size_t kernels = text.find("\nkernel ");
  const std::size_t compiling = text.find("\ncompiling ");
  ASSERT_TRUE(kernels < compiling && compiling != std::string::npos) << text;
  EXPECT_THAT(text.substr(kernels, compiling - kernels), Not(HasSubstr("add.cpp")));
}

TEST(Analysis, PartsOfTimeDoNotOverlap) {
  MadeTrace made;
  const Text kernel = made.text("add");
  made.task(0, 0, 1, 10, 50, kernel);
  made.task(0, 1, 2, 30, 60, kernel);
  made.wait(0, 20, 80, made.text("flags"), 1);
  const Analysis analysis = analyse(made.done());
  const RankTimes& times = analysis.ranks.at(0);
  EXPECT_EQ(times.kernels, 50);
  EXPECT_EQ(times.waiting, 20);
  EXPECT_EQ(times.idle, 0);
  EXPECT_EQ(times.kernels + times.waiting + times.copies + times.idle, times.end - times.begin);
  EXPECT_DOUBLE_EQ(times.parallelism, 70.0 / 50.0);
  EXPECT_EQ(times.cores, 2U);
}

TEST(Analysis, AWaitInsideOfAKernelIsAWait) {
  MadeTrace made;
  made.task(0, 0, 1, 0, 100, made.text("ring"));
  Span& wait = made.add(EventKind::wait, 0, 10, 90);
  wait.lane.lane = core_lane(0);
  const RankTimes times = analyse(made.done()).ranks.at(0);
  EXPECT_EQ(times.kernels, 20);
  EXPECT_EQ(times.waiting, 80);
}

TEST(Analysis, NamesTheTensorThatMakesTasksWait) {
  MadeTrace made;
  const Text kernel = made.text("add");
  const Text tensor = made.text("out");
  for (std::uint64_t task = 1; task <= 20; ++task) {
    const auto begin = static_cast<std::int64_t>(10 * task);
    made.task(0, static_cast<int>(task % 2), task, begin, begin + 9, kernel);
    if (task > 1) made.edge(0, task, task - 1, tensor);
  }
  Trace& trace = made.done();
  const Analysis analysis = analyse(trace);
  EXPECT_EQ(analysis.ranks.at(0).chain, 20U);
  EXPECT_EQ(analysis.ranks.at(0).chain_tensor, "out");
  EXPECT_THAT(summary(trace, analysis),
              HasSubstr("rank 0: parallelism 1.0 of 2, longest chain 20 of 20 tasks, because of \"out\""));
}

TEST(Analysis, TheCriticalPathFollowsWhoWasWaitedFor) {
  MadeTrace made;
  const Text window = made.text("flags");
  const Text kernel = made.text("slow");
  made.task(1, 0, 1, 0, 90, kernel);
  made.notify(1, 90, window, 0, 1);
  made.wait(0, 5, 92, window, 1);
  made.task(0, 0, 1, 92, 100, made.text("last"));
  Trace& trace = made.done();
  const Analysis analysis = analyse(trace);
  std::int64_t of_slow = 0;
  std::int64_t covered = 0;
  for (const PathPart& part : analysis.critical_path) {
    covered += part.end - part.begin;
    if (part.span && trace.text(trace.spans[*part.span].object) == "slow") of_slow += part.end - part.begin;
  }
  EXPECT_EQ(of_slow, 90);
  EXPECT_EQ(covered, 100);
  EXPECT_THAT(summary(trace, analysis), HasSubstr("rank 1: slow"));
}

TEST(Analysis, OfNothing) {
  MadeTrace made;
  Trace& trace = made.done();
  EXPECT_THAT(summary(trace, analyse(trace)), HasSubstr("0 events"));
}

TEST(Difference, SaysWhatTakesLonger) {
  MadeTrace before;
  before.task(0, 0, 1, 0, 1000, before.text("add"));
  MadeTrace now;
  now.task(0, 0, 1, 0, 4000, now.text("add"));
  EXPECT_THAT(difference(before.done(), now.done()), HasSubstr("+3.0 us"));
}

}  // namespace
}  // namespace baton::trace
