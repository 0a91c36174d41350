#include <baton/device_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "expect_error.hpp"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ParseDeviceList, ReadsNumbersAndRangesInTheOrderWritten) {
  EXPECT_THAT(parse_device_list("0"), ElementsAre(0));
  EXPECT_THAT(parse_device_list("0-3"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(parse_device_list("0,2-4"), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(parse_device_list("5,0-1"), ElementsAre(5, 0, 1));
  EXPECT_THAT(parse_device_list("7-7"), ElementsAre(7));
  EXPECT_THAT(parse_device_list("007"), ElementsAre(7));
  EXPECT_THAT(parse_device_list("5-6,3-4,7,0"), ElementsAre(5, 6, 3, 4, 7, 0));
}

TEST(ParseDeviceList, AllowsSpacesAroundItems) { EXPECT_THAT(parse_device_list(" 0 ,\t2-3 "), ElementsAre(0, 2, 3)); }

TEST(ParseDeviceList, GoesUpToItsLimits) {
  EXPECT_THAT(parse_device_list("1000000"), ElementsAre(1'000'000));
  EXPECT_EQ(parse_device_list("0-65535").size(), 65'536U);
  EXPECT_EQ(parse_device_list("934465-1000000").back(), 1'000'000);
}

struct BadList {
  const char* text;
  const char* reason;
  const char* mark;
};

void PrintTo(const BadList& bad, std::ostream* out) { *out << bad.text; }

class ParseDeviceListRefuses : public testing::TestWithParam<BadList> {};

TEST_P(ParseDeviceListRefuses, AndShowsTheSpot) {
  const auto& [text, reason, mark] = GetParam();
  const auto error = error_of([] { static_cast<void>(parse_device_list(GetParam().text)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::bad_device_list);
  EXPECT_EQ(error->message(), "device list \"" + std::string(text) + "\": " + reason);
  EXPECT_THAT(error->notes(), ElementsAre(text, mark));
}

INSTANTIATE_TEST_SUITE_P(
    Junk, ParseDeviceListRefuses,
    testing::Values(
        BadList{"0,3-1", "range 3-1 runs backwards", "  ^~~"}, BadList{"  ", "it is empty", "^~"},
        BadList{",1", "an item is empty", "^"}, BadList{"0,,2", "an item is empty", "  ^"},
        BadList{"0, ,2", "an item is empty", "  ^~"}, BadList{"0,", "an item is empty", "  ^"},
        BadList{"-1", "-1 is negative", "^~"}, BadList{"0,-1-3", "-1-3 is negative", "  ^~~~"},
        BadList{"0,1-", "range 1- has no end", "  ^~"}, BadList{"1--3", "\"-3\" is not a number", "  ^~"},
        BadList{"1-2-3", "\"2-3\" is not a number", "  ^~~"}, BadList{"0,two,3", "\"two\" is not a number", "  ^~~"},
        BadList{"0 1", "\"0 1\" is not a number", "^~~"}, BadList{"0 - 3", "\"0 \" is not a number", "^~"},
        BadList{"0x1", "\"0x1\" is not a number", "^~~"}, BadList{"+1", "\"+1\" is not a number", "^~"},
        BadList{"0;1", "\"0;1\" is not a number", "^~~"}, BadList{"1,0-3", "device 1 is named twice", "  ^~~"},
        BadList{"4,4", "device 4 is named twice", "  ^"}, BadList{"5-9,7", "device 7 is named twice", "    ^"},
        BadList{"5-9,9-12", "device 9 is named twice", "    ^~~~"},
        BadList{"5-9,0-5", "device 5 is named twice", "    ^~~"},
        BadList{"5,20-29,7-8,6-9", "device 7 is named twice", "            ^~~"},
        BadList{"1000001", "1000001 is above 1000000", "^~~~~~~"},
        BadList{"0-1000001", "1000001 is above 1000000", "  ^~~~~~~"},
        BadList{"99999999999999999999", "99999999999999999999 is above 1000000", "^~~~~~~~~~~~~~~~~~~~"},
        BadList{"0-65536", "more than 65536 devices", "^~~~~~~"},
        BadList{"100000,0-65535", "more than 65536 devices", "       ^~~~~~~"}));

TEST(ParseDeviceListErrors, AnEmptyListHasNoSpot) {
  const auto error = error_of([] { static_cast<void>(parse_device_list("")); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "device list \"\": it is empty");
  EXPECT_THAT(error->notes(), IsEmpty());
}

TEST(ParseDeviceListErrors, TheMarkStaysUnderBytesThatAreEscaped) {
  const auto error = error_of([] { static_cast<void>(parse_device_list("0\xe2\x80\x93\x33,5")); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->notes(), ElementsAre("0\\xe2\\x80\\x933,5", "^~~~~~~~~~~~~~"));
}

TEST(ParseDeviceListErrors, LongListsAreCutAroundTheSpot) {
  std::string list;
  for (int i = 0; i < 1000; ++i) list += std::to_string(i) + ",";
  list += "oops";
  for (int i = 1000; i < 2000; ++i) list += "," + std::to_string(i);
  const auto error = error_of([&] { static_cast<void>(parse_device_list(list)); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message(), HasSubstr("...: \"oops\" is not a number"));
  ASSERT_EQ(error->notes().size(), 2U);
  const std::string& excerpt = error->notes()[0];
  const std::string& mark = error->notes()[1];
  EXPECT_LT(excerpt.size(), 100U);
  EXPECT_EQ(excerpt.substr(mark.find('^'), 4), "oops");
  EXPECT_EQ(mark.substr(mark.find('^')), "^~~~");
  EXPECT_TRUE(excerpt.starts_with("...") && excerpt.ends_with("..."));
}

TEST(FormatDeviceList, WritesRunsAsRanges) {
  EXPECT_EQ(format_device_list({}), "");
  EXPECT_EQ(format_device_list({0}), "0");
  EXPECT_EQ(format_device_list({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(format_device_list({0, 2, 3, 4, 9}), "0,2-4,9");
  EXPECT_EQ(format_device_list({5, 4, 3}), "5,4,3");
  EXPECT_EQ(format_device_list({7, 0, 1}), "7,0-1");
}

TEST(FormatDeviceList, IsReadBack) {
  std::vector<int> all(65'536);
  std::iota(all.begin(), all.end(), 17);
  for (const std::vector<int>& devices : {all, {3}, {9, 8, 1, 2, 3}, {1'000'000, 0}}) {
    EXPECT_EQ(parse_device_list(format_device_list(devices)), devices);
  }
}

}  // namespace
}  // namespace baton
