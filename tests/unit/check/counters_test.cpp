// Counters and epochs: what programs do with signals, right and not quite right.
#include <gtest/gtest.h>

#include <algorithm>

#include "judged_case.hpp"

namespace baton::check::test {
namespace {

const Case kCounterCases[] = {
    // One sender.
    {"one_notify_one_wait", 2, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].wait(0, 1).read(x);
     }},
    {"no_wait", 2, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].read(x);
     }},
    {"notify_before_the_write", 2, Verdict::racy,
     [](Program& p) {
       p[0].notify(0).write(x);
       p[1].wait(0, 1).read(x);
     }},
    {"wait_for_nothing", 2, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].wait(0, 0).read(x);
     }},
    {"wait_for_more_than_zero", 2, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].wait(0, 0, WaitCmp::gt).read(x);
     }},
    {"one_notify_of_two", 2, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0, 2);
       p[1].wait(0, 2).read(x);
     }},
    {"second_of_two_notifies_is_needed", 2, Verdict::clean,
     [](Program& p) {
       p[0].notify(0).write(x).notify(0);
       p[1].wait(0, 2).read(x);
     }},
    {"off_by_one", 2, Verdict::racy,
     [](Program& p) {
       p[0].notify(0).write(x).notify(0);
       p[1].wait(0, 1).read(x);
     }},
    {"equal_to_what_it_becomes", 2, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].wait(0, 1, WaitCmp::eq).read(x);
     }},
    {"other_signal", 2, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(0).notify(1);
       p[0].write(x);
       p[1].wait(1, 1).read(x);
     }},
    // Several senders.
    {"two_senders_both_awaited", 3, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].write(y).notify(0);
       p[2].wait(0, 2).read(x).read(y);
     }},
    {"two_senders_one_awaited", 3, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].write(y).notify(0);
       p[2].wait(0, 1).read(x);
     }},
    {"three_senders_of_one", 4, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].write(y).notify(0);
       p[2].write(z).notify(0);
       p[3].wait(0, 3).read(x).read(y).read(z);
     }},
    {"three_senders_two_awaited", 4, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].notify(0);
       p[2].notify(0);
       p[3].wait(0, 2).read(x);
     }},
    {"a_sender_a_round_ahead", 4, Verdict::racy,
     [](Program& p) {
       p[0].notify(0).notify(0);
       p[1].notify(0);
       p[2].write(x).notify(0);
       p[3].wait(0, 3).read(x);
     }},
    {"the_late_sender_adds_two", 3, Verdict::clean,
     [](Program& p) {
       p[0].notify(0);
       p[1].write(x).notify(0, 2);
       p[2].wait(0, 2).read(x);
     }},
    {"the_other_sender_adds_two", 3, Verdict::racy,
     [](Program& p) {
       p[0].notify(0, 2);
       p[1].write(x).notify(0);
       p[2].wait(0, 2).read(x);
     }},
    {"a_signal_for_each_sender", 4, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0).notify(0);
       p[1].write(y).notify(1);
       p[2].write(z).notify(2);
       p[3].wait(0, 1).wait(1, 1).wait(2, 1).read(x).read(y).read(z);
     }},
    {"what_all_ways_have_in_common", 4, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(1).notify(2);
       p[1].wait(1, 1).notify(0);
       p[2].wait(2, 1).notify(0);
       p[3].wait(0, 1).read(x);
     }},
    {"what_only_one_way_has", 4, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(1);
       p[1].wait(1, 1).notify(0);
       p[2].notify(0);
       p[3].wait(0, 1).read(x);
     }},
    // Through a third one.
    {"passed_on", 3, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].wait(0, 1).notify(1);
       p[2].wait(1, 1).read(x);
     }},
    {"passed_on_without_a_wait", 3, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].notify(1).wait(0, 1);
       p[2].wait(1, 1).read(x);
     }},
    {"counted_with_a_later_one_that_needs_it", 3, Verdict::clean,
     [](Program& p) {
       p[0].write(x).notify(0).notify(1);
       p[1].wait(1, 1).notify(0);
       p[2].wait(0, 1).read(x);
     }},
    // Rounds.
    {"ping_pong", 2, Verdict::clean,
     [](Program& p) {
       for (int round = 1; round <= 3; ++round) {
         p[0].write(x).notify(0).wait(1, round);
         p[1].wait(0, round).read(x).notify(1);
       }
     }},
    {"ping_without_pong", 2, Verdict::racy,
     [](Program& p) {
       for (int round = 1; round <= 2; ++round) {
         p[0].write(x).notify(0);
         p[1].wait(0, round).read(x);
       }
     }},
    {"pong_before_the_read", 2, Verdict::racy,
     [](Program& p) {
       for (int round = 1; round <= 2; ++round) {
         p[0].write(x).notify(0).wait(1, round);
         p[1].wait(0, round).notify(1).read(x);
       }
     }},
    {"always_waits_for_one", 2, Verdict::racy,
     [](Program& p) {
       for (int round = 1; round <= 2; ++round) {
         p[0].write(x).notify(0).wait(1, round);
         p[1].wait(0, 1).read(x).notify(1);
       }
     }},
    {"two_slots_in_turns", 2, Verdict::clean,
     [](Program& p) {
       for (int round = 0; round < 4; ++round) {
         if (round >= 2) p[0].wait(1, round - 1);
         p[0].write(x, static_cast<std::uint64_t>(round % 2) * 4).notify(0);
         p[1].wait(0, round + 1).read(x, static_cast<std::uint64_t>(round % 2) * 4).notify(1);
       }
     }},
    {"two_slots_credit_too_early", 2, Verdict::racy,
     [](Program& p) {
       for (int round = 0; round < 4; ++round) {
         if (round >= 2) p[0].wait(1, round - 2);
         p[0].write(x, static_cast<std::uint64_t>(round % 2) * 4).notify(0);
         p[1].wait(0, round + 1).read(x, static_cast<std::uint64_t>(round % 2) * 4).notify(1);
       }
     }},
    {"two_senders_in_rounds_that_are_answered", 3, Verdict::clean,
     [](Program& p) {
       for (int round = 1; round <= 2; ++round) {
         p[0].write(x).notify(0).wait(1, round);
         p[1].write(y).notify(0).wait(2, round);
         p[2].wait(0, 2 * round).read(x).read(y).notify(1).notify(2);
       }
     }},
    {"two_senders_in_rounds_of_their_own", 3, Verdict::racy,
     [](Program& p) {
       for (int round = 1; round <= 2; ++round) {
         p[0].write(x, 4U * static_cast<unsigned>(round)).notify(0);
         p[1].write(y, 4U * static_cast<unsigned>(round)).notify(0);
       }
       p[2].wait(0, 2).read(x, 4).read(y, 4);
     }},
    {"two_senders_all_rounds_awaited", 3, Verdict::clean,
     [](Program& p) {
       for (unsigned round = 1; round <= 2; ++round) {
         p[0].write(x, 4 * round).notify(0);
         p[1].write(y, 4 * round).notify(0);
       }
       p[2].wait(0, 4).read(x, 4).read(y, 4);
     }},
    {"answered_only_to_one_of_two", 3, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(0).notify(0);
       p[1].write(y).notify(0).wait(2, 1).notify(0);
       p[2].wait(0, 2).read(y).notify(2);
     }},
    // Sets.
    {"set_and_wait", 2, Verdict::clean,
     [](Program& p) {
       p[0].write(x).set(0, 7);
       p[1].wait(0, 7, WaitCmp::eq).read(x);
     }},
    {"set_twice_wait_for_either", 2, Verdict::racy,
     [](Program& p) {
       p[0].set(0, 1).write(x).set(0, 2);
       p[1].wait(0, 0, WaitCmp::ne).read(x);
     }},
    {"set_twice_wait_for_the_second", 2, Verdict::clean,
     [](Program& p) {
       p[0].set(0, 1).write(x).set(0, 2);
       p[1].wait(0, 2, WaitCmp::eq).read(x);
     }},
    {"epochs_by_set", 2, Verdict::clean,
     [](Program& p) {
       for (int epoch = 1; epoch <= 3; ++epoch) {
         p[0].write(x).set(0, epoch).wait(1, epoch);
         p[1].wait(0, epoch).read(x).set(1, epoch);
       }
     }},
    {"flag_that_is_reset", 2, Verdict::clean,
     [](Program& p) {
       for (int round = 0; round < 2; ++round) {
         p[0].wait(0, 0, WaitCmp::eq).write(x).set(0, 1);
         p[1].wait(0, 1, WaitCmp::eq).read(x).set(0, 0);
       }
     }},
    {"flag_reset_before_the_read", 2, Verdict::racy,
     [](Program& p) {
       for (int round = 0; round < 2; ++round) {
         p[0].wait(0, 0, WaitCmp::eq).write(x).set(0, 1);
         p[1].wait(0, 1, WaitCmp::eq).set(0, 0).read(x);
       }
     }},
    {"set_by_two", 3, Verdict::racy,
     [](Program& p) {
       p[0].write(x).set(0, 1);
       p[1].write(y).set(0, 1);
       p[2].wait(0, 1, WaitCmp::eq).read(x);
     }},
    {"set_by_two_to_different_values", 3, Verdict::clean,
     [](Program& p) {
       p[0].write(x).set(0, 1);
       p[1].wait(0, 1).set(0, 2);
       p[2].wait(0, 2, WaitCmp::eq).read(x);
     }},
    {"wait_for_less", 2, Verdict::racy,
     [](Program& p) {
       p[0].write(x).notify(0);
       p[1].wait(0, 2, WaitCmp::lt).read(x);
     }},
};

class Counters : public testing::TestWithParam<Case> {};

TEST_P(Counters, AreJudgedRightly) { expect_judged_rightly(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, Counters, testing::ValuesIn(kCounterCases), name_of);

TEST(Detour, NamesTheChangesThatSufficed) {
  Program program(4);
  program[0].notify(0).notify(0);
  program[1].notify(0);
  program[2].write(x).notify(0);
  program[3].wait(0, 3).read(x);
  const auto findings = find_races(program.run(1).value());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_TRUE(findings.front().detour.has_value());
  EXPECT_EQ(findings.front().detour->meant.stamp.actor, 2U);
  const auto& instead = findings.front().detour->instead;
  EXPECT_TRUE(!instead.empty() && std::ranges::all_of(instead, [](const Change& c) { return c.stamp.actor != 2; }));
}

}  // namespace
}  // namespace baton::check::test
