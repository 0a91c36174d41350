#include "base/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace baton::log {
namespace {

class Log : public testing::Test {
 protected:
  void TearDown() override { set_threshold(Options{}.log); }

  template <class Action>
  static std::string standard_error_of(Action&& action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, WritesOneLineWithItsLevel) {
  set_threshold(LogLevel::trace);
  EXPECT_EQ(standard_error_of([] { warn("rank {} is {}", 3, "late"); }), "baton: [warn] rank 3 is late\n");
  EXPECT_EQ(standard_error_of([] { info("x"); }), "baton: [info] x\n");
  EXPECT_EQ(standard_error_of([] { debug("x"); }), "baton: [debug] x\n");
  EXPECT_EQ(standard_error_of([] { write(LogLevel::trace, "x"); }), "baton: [trace] x\n");
  EXPECT_EQ(standard_error_of([] { write(LogLevel::error, "x"); }), "baton: [error] x\n");
}

TEST_F(Log, TakesTextAsItIs) {
  set_threshold(LogLevel::warn);
  EXPECT_EQ(standard_error_of([] { write(LogLevel::warn, "100% {} %v\nnext"); }), "baton: [warn] 100% {} %v\nnext\n");
}

TEST_F(Log, ThresholdSeparatesLevels) {
  set_threshold(LogLevel::warn);
  EXPECT_FALSE(enabled(LogLevel::trace));
  EXPECT_FALSE(enabled(LogLevel::debug));
  EXPECT_FALSE(enabled(LogLevel::info));
  EXPECT_TRUE(enabled(LogLevel::warn));
  EXPECT_TRUE(enabled(LogLevel::error));
  EXPECT_EQ(standard_error_of([] {
              info("quiet");
              write(LogLevel::info, "quiet");
            }),
            "");
}

TEST_F(Log, OffSilencesEverything) {
  set_threshold(LogLevel::off);
  EXPECT_FALSE(enabled(LogLevel::error));
  EXPECT_FALSE(enabled(LogLevel::off));
  EXPECT_EQ(standard_error_of([] { write(LogLevel::error, "x"); }), "");
}

TEST_F(Log, NothingIsWrittenAtLevelOff) {
  set_threshold(LogLevel::trace);
  EXPECT_EQ(standard_error_of([] { write(LogLevel::off, "x"); }), "");
}

TEST_F(Log, LinesOfThreadsDoNotMix) {
  set_threshold(LogLevel::warn);
  const std::string body(200, 'x');
  const std::string text = standard_error_of([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) write(LogLevel::warn, body);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) ASSERT_EQ(line, "baton: [warn] " + body);
  EXPECT_EQ(count, 200);
}

// In fresh processes, where nobody has asked for the options before the log does.
TEST(LogDeathTest, ReadsItsThresholdFromTheOptions) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("BATON_LOG", "debug", 1);
        ::setenv("BATON_LOUD", "1", 1);
        const bool right = enabled(LogLevel::debug) && !enabled(LogLevel::trace);
        std::_Exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "BATON_LOUD is not a variable of Baton");
}

TEST(LogDeathTest, AMalformedVariableLeavesTheDefault) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("BATON_RANK", "junk", 1);
        const bool right = enabled(LogLevel::warn) && !enabled(LogLevel::info);
        std::_Exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace baton::log
