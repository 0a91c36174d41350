#include "trace/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "made_trace.hpp"
#include "trace/deferrals.hpp"
#include "trace/far_notifies.hpp"

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

TEST(Analysis, BetweenHostsTimesMayBeWrong) {
  for (const std::int64_t error : {0, 20}) {
    MadeTrace made;
    if (error != 0) made.make_hosts(error);
    const Text window = made.text("flags");
    made.wait(0, 0, 100, window, 1);
    made.notify(1, 115, window, 0, 1);  // it seems to come after the wait that it ended
    made.wait(0, 200, 300, window, 2);
    made.notify(1, 185, window, 0, 2);  // or before it
    made.wait(2, 400, 500, window, 1);
    made.notify(1, 515, window, 2, 1);  // but not on one host
    made.wait(0, 600, 700, window, 3);
    made.notify(1, 730, window, 0, 3);  // nor by more than that
    const Analysis analysis = analyse(made.done());
    if (error == 0) {
      // The wait that began after its notify still has it.
      ASSERT_EQ(analysis.notifies.size(), 1U);
      continue;
    }
    ASSERT_EQ(analysis.notifies.size(), 2U);
    for (const Flow& flow : analysis.notifies) EXPECT_GE(flow.arrived, flow.left);
    EXPECT_EQ(analysis.notifies[0].left, 115);
    EXPECT_EQ(analysis.notifies[1].left, 185);
  }
}

TEST(FarNotifies, HaveTheValueThatTheirOwnerSaw) {
  MadeTrace made;
  made.make_hosts(5);
  const Text window = made.text("flags");
  for (const std::int64_t at : {10, 20, 30}) made.notify(0, at, window, 3, 1);  // who sends knows what it adds alone
  made.notify(1, 12, window, 3, 2);                                             // of the same host
  made.arrival(3, 11, window, 0, 1);
  made.arrival(3, 25, window, 0, 3);
  made.wait(3, 5, 26, window, 3);
  Trace& trace = made.done();
  join_far_notifies(trace);
  std::vector<std::pair<std::int64_t, std::uint64_t>> values;
  for (const Span& span : trace.spans) {
    EXPECT_NE(span.kind, EventKind::arrival);
    if (span.kind == EventKind::notify) values.emplace_back(span.begin, span.c);
  }
  // The last one did not arrive.
  EXPECT_EQ(values, (std::vector<std::pair<std::int64_t, std::uint64_t>>{{10, 1}, {12, 2}, {20, 3}, {30, 1}}));
  const Analysis analysis = analyse(trace);
  ASSERT_EQ(analysis.notifies.size(), 1U);
  EXPECT_EQ(analysis.notifies[0].left, 20);
}

TEST(Summary, NamesHostsWhereThereAreSeveral) {
  MadeTrace made;
  const Text kernel = made.text("work");
  made.task(0, 0, 1, 0, 100, kernel);
  made.task(1, 0, 1, 0, 100, kernel);
  EXPECT_THAT(summary(made.done(), analyse(made.done())), Not(HasSubstr(" on b")));
  made.make_hosts(1'500);
  const std::string text = summary(made.done(), analyse(made.done()));
  EXPECT_THAT(text, HasSubstr("rank 1 on b"));
  EXPECT_THAT(text, HasSubstr("times may be wrong by 1.5 us"));
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

TEST(Analysis, ABarrierThatNeverEndsWaitsForTheMissingRank) {
  MadeTrace made;
  const Text domain = made.text("world");
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    made.add(EventKind::joined, rank, 1, 1).a = 4;
    if (rank == 3) continue;
    Span& span = made.add(EventKind::barrier, rank, 10 + rank, 100);
    span.object = domain;
    span.a = 1;
    span.b = 4;
    span.outcome = rank == 1 ? EventOutcome::expired : EventOutcome::failed;
  }
  // Of a part of the ranks, nobody knows which.
  Span& part = made.add(EventKind::barrier, 3, 10, 40);
  part.object = made.text("part");
  part.a = 1;
  part.b = 2;
  part.outcome = EventOutcome::failed;
  const Analysis analysis = analyse(made.done());
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(analysis.ranks.at(rank).waited_for.at(3), 90 - static_cast<std::int64_t>(rank));
  }
  EXPECT_EQ(analysis.ranks.at(3).waited_for.at(kNoRank), 30);
}

TEST(Summary, TellsHowMuchOfAKernelWasWaiting) {
  MadeTrace made;
  const Text kernel = made.text("exchange");
  made.task(0, 3, 1, 100, 200, kernel);
  made.wait(0, 120, 180, made.text("flags"), 1);
  made.add(EventKind::wait, 0, 130, 190).lane.lane = core_lane(3);
  made.task(0, 3, 2, 300, 500, kernel);
  const std::string text = summary(made.done(), analyse(made.done()));
  EXPECT_THAT(text, HasSubstr("of it waiting"));
  EXPECT_THAT(text, testing::ContainsRegex("exchange +2 +300 ns +150 ns +200 ns +20 %"));
}

TEST(Summary, CopiesToOnePartAreOneThing) {
  MadeTrace made;
  for (const char* where : {"moe[3]+64", "moe[3]+128", "moe[3]", "a+b"}) {
    made.add(EventKind::copy, 0, 0, 10).object = made.text(where);
  }
  MadeTrace none;
  const std::string text = difference(none.done(), made.done());
  EXPECT_THAT(text, testing::ContainsRegex("copy to moe.3. +.30 ns"));
  EXPECT_THAT(text, HasSubstr("copy to a+b "));
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

TEST(Analysis, ATaskThatWaitsWithoutACoreIsAWait) {
  MadeTrace made;
  const Text window = made.text("flags");
  // Both were submitted long before, and for a while the chip has something to do.
  made.task(0, 0, 1, 10, 60, made.text("first"));
  made.deferral(0, 5, 40, window, 1);
  made.deferral(0, 5, 90, window, 2);
  made.deferral(0, 5, 95, window, 3);
  made.notify(1, 38, window, 0, 1);
  made.task(1, 0, 1, 0, 85, made.text("slow"));
  made.notify(1, 86, window, 0, 2);
  made.notify(2, 93, window, 0, 3);
  made.task(0, 0, 2, 95, 100, made.text("last"));
  Trace& trace = made.done();
  shorten_deferrals(trace);
  std::vector<std::pair<std::int64_t, std::int64_t>> waits;
  for (const Span& span : trace.spans) {
    if (span.kind == EventKind::deferral) waits.emplace_back(span.begin, span.end);
  }
  EXPECT_THAT(waits,
              testing::UnorderedElementsAre(testing::Pair(40, 40), testing::Pair(60, 90), testing::Pair(90, 95)));
  const Analysis analysis = analyse(trace);
  EXPECT_EQ(analysis.notifies.size(), 3U);
  EXPECT_EQ(analysis.ranks.at(0).waiting, 35);
  EXPECT_EQ(analysis.ranks.at(0).waited_for.at(1), 30);
  EXPECT_EQ(analysis.ranks.at(0).waited_for.at(2), 5);
}

TEST(Analysis, AWindowIsMadeWhenTheLastMemberComes) {
  MadeTrace made;
  const Text window = made.text("x");
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    for (const std::uint64_t number : {1, 2}) {
      const auto begin = static_cast<std::int64_t>(100 * number + (rank == number ? 70 : 10));
      Span& span = made.add(EventKind::allocation, rank, begin, static_cast<std::int64_t>(100 * number + 80));
      span.object = window;
      span.a = number;
      span.b = 3;
    }
  }
  const Analysis analysis = analyse(made.done());
  EXPECT_THAT(analysis.ranks.at(0).waited_for,
              testing::UnorderedElementsAre(testing::Pair(1, 70), testing::Pair(2, 70)));
}

TEST(Summary, SaysWhatARankWasInTheMiddleOf) {
  MadeTrace made;
  const Text kernel = made.text("work");
  made.add(EventKind::joined, 0, 0, 0);
  made.add(EventKind::run, 0, 100, 400);
  made.task(0, 0, 1, 150, 250, kernel);
  made.task(0, 0, 2, 380, 390, kernel);
  Span& collective = made.add(EventKind::collective, 0, 500, 1'000);
  collective.object = made.text("allreduce");
  collective.b = made.text("ring");
  made.task(0, 0, 3, 1'000, 1'500, kernel);
  const std::string text = summary(made.done(), analyse(made.done()));
  EXPECT_THAT(text, testing::ContainsRegex("rank 0: its program .2 times. +200 ns"));
  EXPECT_THAT(text, testing::ContainsRegex("rank 0: in a run, between kernels .3 times. +190 ns"));
  EXPECT_THAT(text, testing::ContainsRegex("rank 0: in allreduce .ring. +500 ns"));
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
