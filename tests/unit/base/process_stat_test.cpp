#include "base/process_stat.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>

#include "base/liveness.hpp"
#include "child_process.hpp"

namespace baton {
namespace {

// Fields 4 to 52 of a stat line, with 20 (threads), 22 (start time) and 52 (exit code) as given.
std::string fields(int threads, std::uint64_t start_time, int exit_code) {
  std::string text;
  for (int field = 4; field <= 51; ++field) {
    text += field == 20   ? std::to_string(threads)
            : field == 22 ? std::to_string(start_time)
                          : std::to_string(field * 1000);
    text += ' ';
  }
  return text + std::to_string(exit_code) + "\n";
}

TEST(ProcessStat, PicksItsFields) {
  const auto stat = parse_process_stat("42 (cat) S " + fields(7, 123456789012345ULL, 768));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->threads, 7);
  EXPECT_EQ(stat->start_time, 123456789012345ULL);
  EXPECT_EQ(stat->exit_code, 768);
  EXPECT_FALSE(stat->ended());
}

TEST(ProcessStat, NamesMayHoldAnything) {
  for (const char* name : {"a b", "a) Z 1 (b", "))", "", ") S 1 2 3", "\n)"}) {
    const auto stat = parse_process_stat("42 (" + std::string(name) + ") R " + fields(1, 99, 0));
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->state, 'R') << name;
    EXPECT_EQ(stat->start_time, 99U) << name;
  }
}

TEST(ProcessStat, RefusesOtherForms) {
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat("42 (cat"));
  EXPECT_FALSE(parse_process_stat("42 (cat) "));
  EXPECT_FALSE(parse_process_stat("42 (cat) S 1 2 3"));
  EXPECT_FALSE(parse_process_stat("42 (cat) SS " + fields(1, 99, 0)));
  EXPECT_FALSE(parse_process_stat("42 (cat) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 1 21 x"));
}

TEST(ProcessStat, TheExitCodeMayBeMissing) {
  const auto stat = parse_process_stat("42 (cat) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 1 21 77");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->start_time, 77U);
  EXPECT_EQ(stat->exit_code, 0);
}

TEST(ProcessStat, AZombieHasEndedUnlessThreadsAreLeft) {
  EXPECT_TRUE(parse_process_stat("42 (cat) Z " + fields(1, 1, 0))->ended());
  EXPECT_TRUE(parse_process_stat("42 (cat) X " + fields(1, 1, 0))->ended());
  EXPECT_TRUE(parse_process_stat("42 (cat) X " + fields(0, 1, 0))->ended());
  EXPECT_FALSE(parse_process_stat("42 (cat) Z " + fields(2, 1, 0))->ended());
  EXPECT_FALSE(parse_process_stat("42 (cat) T " + fields(1, 1, 0))->ended());
}

TEST(ProcessStat, ReadsRealProcesses) {
  const auto self = read_process_stat(static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(self);
  EXPECT_EQ(self->state, 'R');
  EXPECT_GE(self->threads, 1);
  EXPECT_FALSE(read_process_stat(0));
}

TEST(ProcessStat, ARealNameWithParenthesesDoesNotHideTheStartTime) {
  int named[2];
  ASSERT_EQ(::pipe(named), 0);
  const ChildProcess child([&] {
    ::prctl(PR_SET_NAME, "a) Z 1 (b");
    static_cast<void>(::write(named[1], "x", 1));
    return ChildProcess::sleep_forever();
  });
  char byte = 0;
  ASSERT_EQ(::read(named[0], &byte, 1), 1);
  EXPECT_EQ(process_start_time(child.id().pid), child.id().start_time);
  EXPECT_TRUE(is_alive(child.id()));
  ::close(named[0]);
  ::close(named[1]);
}

}  // namespace
}  // namespace baton
