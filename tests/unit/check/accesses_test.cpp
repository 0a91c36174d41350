// Barriers, bytes that are used again and copies that finish later: which accesses race, and which do not.
#include <gtest/gtest.h>

#include "judged_case.hpp"

namespace baton::check::test {
namespace {

const Case kAccessCases[] = {
    // Barriers and windows that are used again.
    {"barrier_between", 3, Verdict::clean,
     [](Program& p) {
       p[0].write(x).barrier(5);
       p[1].barrier(5).read(x);
       p[2].barrier(5).read(x);
     }},
    {"barrier_of_others", 3, Verdict::racy,
     [](Program& p) {
       p[0].write(x).barrier(5);
       p[1].barrier(5).read(x);
       p[2].read(x);
     }},
    {"written_again_after_the_barrier", 2, Verdict::racy,
     [](Program& p) {
       p[0].write(x).barrier(5).write(x);
       p[1].barrier(5).read(x);
     }},
    {"written_again_after_two_barriers", 2, Verdict::clean,
     [](Program& p) {
       p[0].write(x).barrier(5).barrier(6).write(x);
       p[1].barrier(5).read(x).barrier(6);
     }},
    {"counter_goes_on_after_a_barrier", 3, Verdict::clean,
     [](Program& p) {
       p[0].notify(0).barrier(5).write(x).notify(0);
       p[1].notify(0).barrier(5).write(y).notify(0);
       p[2].wait(0, 2).barrier(5).wait(0, 4).read(x).read(y);
     }},
    {"counter_was_behind_at_the_barrier", 3, Verdict::racy,
     [](Program& p) {
       p[0].notify(0).barrier(5).write(x).notify(0);
       p[1].notify(0).barrier(5).write(y).notify(0);
       p[2].barrier(5).wait(0, 3).read(x);
     }},
    {"other_bytes", 2, Verdict::clean,
     [](Program& p) {
       p[0].write(x, 0, 8);
       p[1].read(x, 8, 8);
     }},
    {"one_byte_in_common", 2, Verdict::racy,
     [](Program& p) {
       p[0].write(x, 0, 8);
       p[1].read(x, 7, 8);
     }},
    {"two_reads", 2, Verdict::clean,
     [](Program& p) {
       p[0].read(x);
       p[1].read(x);
     }},
    {"two_atomics", 2, Verdict::clean,
     [](Program& p) {
       p[0].atomic(x);
       p[1].atomic(x);
     }},
    {"atomic_and_read", 2, Verdict::racy,
     [](Program& p) {
       p[0].atomic(x);
       p[1].read(x);
     }},
    // Copies that finish later: an actor of their own, between two tokens.
    {"copy_that_is_awaited", 2, Verdict::clean,
     [](Program& p) {
       p[0].write(x).hand(8).receive(9).write(x).read(y);
       p[1].receive(8).read(x).write(y).hand(9);
     }},
    {"copy_whose_source_changes", 2, Verdict::racy,
     [](Program& p) {
       p[0].write(x).hand(8).write(x).receive(9);
       p[1].receive(8).read(x).write(y).hand(9);
     }},
    {"copy_that_is_read_too_early", 2, Verdict::racy,
     [](Program& p) {
       p[0].write(x).hand(8).read(y).receive(9);
       p[1].receive(8).read(x).write(y).hand(9);
     }},
    {"copy_with_a_signal", 3, Verdict::clean,
     [](Program& p) {
       p[0].write(x).hand(8);
       p[1].receive(8).read(x).write(y).notify(0);
       p[2].wait(0, 1).read(y);
     }},
    {"notify_beside_a_copy", 3, Verdict::racy,
     [](Program& p) {
       p[0].write(x).hand(8).notify(0);
       p[1].receive(8).read(x).write(y);
       p[2].wait(0, 1).read(y);
     }},
};

class Accesses : public testing::TestWithParam<Case> {};

TEST_P(Accesses, AreJudgedRightly) { expect_judged_rightly(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, Accesses, testing::ValuesIn(kAccessCases), name_of);

}  // namespace
}  // namespace baton::check::test
