#include "base/option_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"

namespace baton {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::chrono::nanoseconds duration(std::string_view text) { return parse_duration("X", text); }

TEST(ParseDuration, ReadsNumbersWithAndWithoutUnits) {
  EXPECT_EQ(duration("30"), 30s);
  EXPECT_EQ(duration("30s"), 30s);
  EXPECT_EQ(duration("500ms"), 500ms);
  EXPECT_EQ(duration("2m"), 2min);
  EXPECT_EQ(duration("1h"), 60min);
  EXPECT_EQ(duration("007"), 7s);
}

TEST(ParseDuration, ReadsFractionsExactly) {
  EXPECT_EQ(duration("1.5s"), 1500ms);
  EXPECT_EQ(duration("1.1"), 1100ms);
  EXPECT_EQ(duration("0.25m"), 15s);
  EXPECT_EQ(duration("0.5ms"), 500us);
  EXPECT_EQ(duration("0.000000001s"), 1ns);
  EXPECT_EQ(duration("0.123456789s"), 123456789ns);
  EXPECT_EQ(duration("1.999999999999s"), 1999999999ns);
  EXPECT_EQ(duration("2.50000000000000000000000000000000000s"), 2500ms);
}

TEST(ParseDuration, ReadsUpToTheLongestThatFits) {
  EXPECT_EQ(duration("9223372036s"), 9223372036s);
  EXPECT_EQ(duration("9223372036.854775807s"), std::chrono::nanoseconds::max());
  EXPECT_EQ(duration("9223372036854ms"), 9223372036854ms);
}

struct BadDuration {
  const char* text;
  const char* reason;
};

void PrintTo(const BadDuration& bad, std::ostream* out) { *out << bad.text; }

class ParseDurationRefuses : public testing::TestWithParam<BadDuration> {};

TEST_P(ParseDurationRefuses, AndSaysWhy) {
  const auto error = error_of([] { static_cast<void>(parse_duration("BATON_WAIT_TIMEOUT", GetParam().text)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::bad_option);
  EXPECT_THAT(error->message(), HasSubstr(std::string("BATON_WAIT_TIMEOUT=\"") + GetParam().text + "\": "));
  EXPECT_THAT(error->message(), HasSubstr(GetParam().reason));
  EXPECT_THAT(error->notes(), ElementsAre(HasSubstr("accepted: a duration such as 30, 30s")));
}

INSTANTIATE_TEST_SUITE_P(
    Junk, ParseDurationRefuses,
    testing::Values(BadDuration{"", "is empty"}, BadDuration{"-3s", "cannot be negative"},
                    BadDuration{"-0", "cannot be negative"}, BadDuration{"0", "longer than zero"},
                    BadDuration{"0.0ms", "longer than zero"}, BadDuration{"0.0000000001s", "longer than zero"},
                    BadDuration{"9223372036.854775808s", "too long"}, BadDuration{"9223372037", "too long"},
                    BadDuration{"153722868m", "too long"}, BadDuration{"99999999999999999999", "too long"},
                    BadDuration{"s", "does not start with a number"}, BadDuration{"+3", "does not start with a number"},
                    BadDuration{" 3", "does not start with a number"},
                    BadDuration{".5s", "does not start with a number"},
                    BadDuration{"nan", "does not start with a number"}, BadDuration{"3.", "no digits follow the point"},
                    BadDuration{"3.s", "no digits follow the point"}, BadDuration{"3 s", "\" s\" is not a unit"},
                    BadDuration{"3 ", "\" \" is not a unit"}, BadDuration{"3S", "\"S\" is not a unit"},
                    BadDuration{"3e2", "\"e2\" is not a unit"}, BadDuration{"0x10", "\"x10\" is not a unit"},
                    BadDuration{"3sm", "\"sm\" is not a unit"}, BadDuration{"1.5.5s", "\".5s\" is not a unit"},
                    BadDuration{"1,5s", "\",5s\" is not a unit"}, BadDuration{"30us", "\"us\" is not a unit"}));

TEST(ParseInteger, ReadsWholeRange) {
  EXPECT_EQ(parse_integer("X", "0", 0, "n"), 0);
  EXPECT_EQ(parse_integer("X", "17", 1, "n"), 17);
  EXPECT_EQ(parse_integer("X", "2147483647", 1, "n"), 2147483647);
  EXPECT_EQ(parse_integer("X", "-5", -5, "n"), -5);
}

TEST(ParseInteger, RefusesTheRest) {
  const auto message = [](std::string_view text, int minimum) {
    const auto error = error_of([&] { static_cast<void>(parse_integer("BATON_SIZE", text, minimum, "a number")); });
    EXPECT_EQ(error->code(), Code::bad_option);
    EXPECT_THAT(error->notes(), ElementsAre("accepted: a number"));
    return error->message();
  };
  EXPECT_EQ(message("", 0), "BATON_SIZE=\"\": is empty");
  EXPECT_EQ(message("x", 0), "BATON_SIZE=\"x\": is not a decimal number");
  EXPECT_EQ(message("4x", 0), "BATON_SIZE=\"4x\": is not a decimal number");
  EXPECT_EQ(message(" 4", 0), "BATON_SIZE=\" 4\": is not a decimal number");
  EXPECT_EQ(message("+4", 0), "BATON_SIZE=\"+4\": is not a decimal number");
  EXPECT_EQ(message("4.0", 0), "BATON_SIZE=\"4.0\": is not a decimal number");
  EXPECT_EQ(message("0", 1), "BATON_SIZE=\"0\": is below 1");
  EXPECT_EQ(message("-1", 0), "BATON_SIZE=\"-1\": is below 0");
  EXPECT_EQ(message("2147483648", 1), "BATON_SIZE=\"2147483648\": is outside 1 to 2147483647");
  EXPECT_EQ(message("99999999999999999999", 1), "BATON_SIZE=\"99999999999999999999\": is outside 1 to 2147483647");
  EXPECT_EQ(message("99999999999999999999x", 1), "BATON_SIZE=\"99999999999999999999x\": is not a decimal number");
}

TEST(ParseBytes, KnowsFourUnitsAndBareNumbers) {
  EXPECT_EQ(parse_bytes("X", "65536"), 65536U);
  EXPECT_EQ(parse_bytes("X", "3KiB"), 3072U);
  EXPECT_EQ(parse_bytes("X", "500MiB"), 500U << 20U);
  EXPECT_EQ(parse_bytes("X", "2GiB"), 2ULL << 30U);
  EXPECT_EQ(parse_bytes("X", "1TiB"), 1ULL << 40U);
}

TEST(ParseBytes, RefusesOthers) {
  for (const char* text : {"", "0", "-1", "GiB", "1GB", "1 GiB", "1.5GiB", "99999999TiB", "99999999999999999999"}) {
    const auto error = error_of([&] { static_cast<void>(parse_bytes("BATON_CACHE_SIZE", text)); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->code(), Code::bad_option);
    EXPECT_THAT(error->notes(), ElementsAre("accepted: " + std::string(kBytesForm)));
  }
}

TEST(ParseLogLevel, KnowsTheSixLevels) {
  EXPECT_EQ(parse_log_level("X", "trace"), LogLevel::trace);
  EXPECT_EQ(parse_log_level("X", "debug"), LogLevel::debug);
  EXPECT_EQ(parse_log_level("X", "info"), LogLevel::info);
  EXPECT_EQ(parse_log_level("X", "warn"), LogLevel::warn);
  EXPECT_EQ(parse_log_level("X", "error"), LogLevel::error);
  EXPECT_EQ(parse_log_level("X", "off"), LogLevel::off);
}

TEST(ParseLogLevel, RefusesOthers) {
  for (const char* text : {"", "loud", "WARN", "warning", "warn ", "0"}) {
    const auto error = error_of([&] { static_cast<void>(parse_log_level("BATON_LOG", text)); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->code(), Code::bad_option);
    EXPECT_THAT(error->notes(), ElementsAre("accepted: trace, debug, info, warn, error or off"));
  }
}

TEST(ParsePipeOrder, KnowsTwo) {
  EXPECT_EQ(parse_pipe_order("X", "program"), PipeOrder::program);
  EXPECT_EQ(parse_pipe_order("X", "strict"), PipeOrder::strict);
  for (const char* text : {"", "Strict", "loose"}) {
    const auto error = error_of([&] { static_cast<void>(parse_pipe_order("BATON_PIPES", text)); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->code(), Code::bad_option);
    EXPECT_THAT(error->notes(), ElementsAre("accepted: program or strict"));
  }
}

TEST(ParseSeed, TakesSixtyFourBits) {
  EXPECT_EQ(parse_seed("X", "0", "a number"), 0U);
  EXPECT_EQ(parse_seed("X", "18446744073709551615", "a number"), UINT64_MAX);
  for (const char* text : {"", "-1", "+1", "1x", "0x10", "18446744073709551616"}) {
    const auto error = error_of([&] { static_cast<void>(parse_seed("BATON_SEED", text, "a number")); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->code(), Code::bad_option);
  }
}

TEST(ParseName, TakesAnythingButNothing) {
  EXPECT_EQ(parse_name("X", "shm", "a name"), "shm");
  const auto error = error_of([] { static_cast<void>(parse_name("BATON_JOB", "", "a name")); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "BATON_JOB=\"\": is empty");
}

TEST(OptionValues, MessagesStayOnOneLine) {
  const auto error = error_of([] { static_cast<void>(parse_duration("X", "3\n4")); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "X=\"3\\x0a4\": \"\\x0a4\" is not a unit");
}

TEST(Profile, IsAWordOrAFile) {
  for (const char* good : {"off", "summary", "tasks.bin", "./sumary", "/tmp/profile", ".x"})
    EXPECT_EQ(parse_profile("P", good), good);
  for (const char* bad : {"", "sumary", "on", "Summary", "records"}) {
    const auto error = error_of([&] { static_cast<void>(parse_profile("P", bad)); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Code::bad_option);
    EXPECT_THAT(error->what(), testing::HasSubstr("accepted: off, summary, or a file"));
    const bool is_near = std::string_view(bad).size() > 5 && std::string_view(bad) != "records";
    EXPECT_EQ(error->message().ends_with("do you mean summary?"), is_near) << bad;
  }
}

}  // namespace
}  // namespace baton
