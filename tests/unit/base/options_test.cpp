#include <baton/options.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <tuple>

#include "base/option_table.hpp"
#include "expect_error.hpp"

namespace baton {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

auto fields(const Options& o) {
  return std::tuple(o.wait_timeout, o.kernel_timeout, o.join_timeout, o.log, o.backend, o.processors, o.compiler,
                    o.include_dir, o.compile_timeout, o.cache_dir, o.cache_bytes, o.pipes, o.in_place, o.seed, o.events,
                    o.task_window, o.output_heap_bytes, o.gpu_stay, o.rank, o.size, o.job, o.launcher);
}

TEST(Options, AnEmptyEnvironmentGivesTheDefaults) { EXPECT_EQ(fields(Options::from({})), fields(Options{})); }

TEST(Options, EveryVariableReachesItsField) {
  const Options o = Options::from({"BATON_WAIT_TIMEOUT=1.5s",
                                   "BATON_KERNEL_TIMEOUT=20s",
                                   "BATON_JOIN_TIMEOUT=2m",
                                   "BATON_LOG=debug",
                                   "BATON_BACKEND=inproc",
                                   "BATON_PROCESSORS=3",
                                   "BATON_RANK=0",
                                   "BATON_SIZE=1",
                                   "BATON_JOB=shm:/tmp/x=y",
                                   "BATON_LAUNCHER=@socket",
                                   "BATON_CXX=ccache g++",
                                   "BATON_INCLUDE_DIR=/opt/include",
                                   "BATON_COMPILE_TIMEOUT=90s",
                                   "BATON_CACHE_DIR=/tmp/kernels",
                                   "BATON_CACHE_SIZE=2MiB",
                                   "BATON_PIPES=strict",
                                   "BATON_IN_PLACE=always",
                                   "BATON_SEED=18446744073709551615",
                                   "BATON_EVENTS=/tmp/events",
                                   "BATON_TASK_WINDOW=7",
                                   "BATON_GPU_STAY=0.5ms",
                                   "BATON_OUTPUT_HEAP=1MiB"});
  EXPECT_EQ(o.task_window, 7U);
  EXPECT_EQ(o.output_heap_bytes, 1U << 20U);
  EXPECT_EQ(o.gpu_stay, 500us);
  EXPECT_EQ(o.pipes, PipeOrder::strict);
  EXPECT_EQ(o.in_place, InPlace::always);
  EXPECT_EQ(o.seed, UINT64_MAX);
  EXPECT_EQ(o.events, "/tmp/events");
  EXPECT_EQ(o.compiler, "ccache g++");
  EXPECT_EQ(o.include_dir, "/opt/include");
  EXPECT_EQ(o.compile_timeout, 90s);
  EXPECT_EQ(o.cache_dir, "/tmp/kernels");
  EXPECT_EQ(o.cache_bytes, 2U << 20U);
  EXPECT_EQ(o.wait_timeout, 1500ms);
  EXPECT_EQ(o.kernel_timeout, 20s);
  EXPECT_EQ(o.join_timeout, 2min);
  EXPECT_EQ(o.log, LogLevel::debug);
  EXPECT_EQ(o.backend, "inproc");
  EXPECT_EQ(o.processors, 3);
  EXPECT_EQ(o.rank, 0);
  EXPECT_EQ(o.size, 1);
  EXPECT_EQ(o.job, "shm:/tmp/x=y");
  EXPECT_EQ(o.launcher, "@socket");
}

TEST(Options, EveryVariableHasAValueThatIsRefused) {
  for (const OptionInfo& info : option_table()) {
    const auto error = error_of([&] { Options::from({std::string(info.name) + "="}); });
    ASSERT_TRUE(error) << info.name;
    EXPECT_EQ(error->code(), Code::bad_option);
    EXPECT_THAT(error->message(), HasSubstr(info.name));
    EXPECT_THAT(error->notes(), ElementsAre("accepted: " + std::string(info.form)));
  }
}

TEST(Options, NumbersHaveLowerBounds) {
  EXPECT_THROW(Options::from({"BATON_RANK=-1"}), Error);
  EXPECT_THROW(Options::from({"BATON_SIZE=0"}), Error);
  EXPECT_THROW(Options::from({"BATON_PROCESSORS=0"}), Error);
}

TEST(Options, OfTwoEntriesTheFirstCounts) {
  EXPECT_EQ(Options::from({"BATON_RANK=4", "BATON_RANK=7"}).rank, 4);
  EXPECT_EQ(Options::from({"BATON_RANK=4", "BATON_RANK=junk"}).rank, 4);
}

TEST(Options, EntriesOfOthersAreIgnored) {
  std::vector<std::string> unknown;
  const Options o =
      Options::from({"PATH=/bin", "", "=", "BATON_RANK", "BATON=1", "XBATON_RANK=3", "baton_rank=3"}, &unknown);
  EXPECT_EQ(fields(o), fields(Options{}));
  EXPECT_THAT(unknown, IsEmpty());
}

TEST(Options, UnknownNamesAreCollectedOnce) {
  std::vector<std::string> unknown;
  const Options o = Options::from({"BATON_WAIT_TIMOUT=3", "BATON_RANK=1", "BATON_=x", "BATON_WAIT_TIMOUT=4"}, &unknown);
  EXPECT_EQ(o.rank, 1);
  EXPECT_THAT(unknown, ElementsAre("BATON_WAIT_TIMOUT", "BATON_"));
  EXPECT_NO_THROW(Options::from({"BATON_WAIT_TIMOUT=3"}));
}

TEST(Options, ReadTheEnvironmentOfTheProcess) {
  ASSERT_EQ(::setenv("BATON_JOIN_TIMEOUT", "77ms", 1), 0);
  EXPECT_EQ(Options::from_environment().join_timeout, 77ms);
  ASSERT_EQ(::setenv("BATON_JOIN_TIMEOUT", "never", 1), 0);
  EXPECT_THROW(Options::from_environment(), Error);
  ASSERT_EQ(::unsetenv("BATON_JOIN_TIMEOUT"), 0);
  EXPECT_EQ(Options::from_environment().join_timeout, Options{}.join_timeout);
}

// In a fresh process, as options() reads once.
TEST(OptionsDeathTest, OptionsAreReadOnceAndWarnAboutUnknownNames) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("BATON_WAIT_TIMOUT", "3", 1);
        ::setenv("BATON_RANK", "5", 1);
        const bool first = options().rank == 5;
        ::setenv("BATON_RANK", "6", 1);
        const bool still = options().rank == 5 && &options() == &options();
        std::_Exit(first && still ? 0 : 1);
      },
      testing::ExitedWithCode(0),
      "baton: \\[warn\\] BATON_WAIT_TIMOUT is not a variable of Baton; did you mean BATON_WAIT_TIMEOUT\\?");
}

TEST(OptionsDeathTest, OptionsAgainThrowAfterTheyThrew) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("BATON_RANK", "minus one", 1);
        int thrown = 0;
        for (int i = 0; i < 2; ++i) {
          try {
            static_cast<void>(options());
          } catch (const Error&) {
            ++thrown;
          }
        }
        ::setenv("BATON_RANK", "1", 1);
        std::_Exit(thrown == 2 && options().rank == 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Options, KernelsHaveFourTimesTheDeadlineOfWaitsUnlessTold) {
  EXPECT_EQ(Options{}.kernel_limit(), 4 * Options{}.wait_timeout);
  EXPECT_EQ(Options::from({"BATON_WAIT_TIMEOUT=3s"}).kernel_limit(), std::chrono::seconds(12));
  EXPECT_EQ(Options::from({"BATON_KERNEL_TIMEOUT=500ms"}).kernel_limit(), std::chrono::milliseconds(500));
  EXPECT_EQ(Options::from({"BATON_KERNEL_TIMEOUT=0"}).kernel_limit(), std::chrono::nanoseconds(0));
  Options endless;
  endless.wait_timeout = std::chrono::nanoseconds::max();
  EXPECT_EQ(endless.kernel_limit(), std::chrono::nanoseconds(0));
}

TEST(OptionTable, IsComplete) {
  std::set<std::string_view> names;
  for (const OptionInfo& info : option_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(info.name.starts_with("BATON_")) << info.name;
    EXPECT_FALSE(info.form.empty()) << info.name;
    ASSERT_FALSE(info.sentence.empty()) << info.name;
    EXPECT_EQ(info.sentence.back(), '.') << info.name;
  }
  EXPECT_EQ(names.size(), 39U);
}

TEST(OptionTable, DefaultsAreThoseOfTheStruct) {
  for (const OptionInfo& info : option_table()) {
    if (info.default_value.empty()) continue;
    const Options o = Options::from({std::string(info.name) + "=" + std::string(info.default_value)});
    EXPECT_EQ(fields(o), fields(Options{})) << info.name;
  }
}

TEST(UnknownVariable, SuggestsANearName) {
  EXPECT_EQ(unknown_variable_message("BATON_WAIT_TIMOUT"),
            "BATON_WAIT_TIMOUT is not a variable of Baton; did you mean BATON_WAIT_TIMEOUT?");
  EXPECT_EQ(unknown_variable_message("BATON_RNAK"), "BATON_RNAK is not a variable of Baton; did you mean BATON_RANK?");
  EXPECT_EQ(unknown_variable_message("BATON_LOGS"), "BATON_LOGS is not a variable of Baton; did you mean BATON_LOG?");
}

TEST(UnknownVariable, SuggestsNothingFarFetched) {
  EXPECT_EQ(unknown_variable_message("BATON_COLOUR"), "BATON_COLOUR is not a variable of Baton");
  EXPECT_EQ(unknown_variable_message("BATON_X"), "BATON_X is not a variable of Baton");
  EXPECT_EQ(unknown_variable_message("BATON_"), "BATON_ is not a variable of Baton");
}

}  // namespace
}  // namespace baton
