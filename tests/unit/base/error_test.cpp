#include <baton/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/fail.hpp"

namespace baton {
namespace {

TEST(ErrorTable, HoldsEveryRowOfTheMacro) {
  std::size_t rows = 0;
#define COUNT_ROW(number, name, sentence, remedy) ++rows;
  BATON_ERROR_TABLE(COUNT_ROW)
#undef COUNT_ROW
  EXPECT_EQ(error_table().size(), rows);
}

TEST(ErrorTable, NumbersAscendAndAreUnique) {
  int previous = 0;
  for (const ErrorInfo& row : error_table()) {
    EXPECT_GT(static_cast<int>(row.code), previous) << row.name;
    EXPECT_LE(static_cast<int>(row.code), 999) << row.name;
    previous = static_cast<int>(row.code);
  }
}

TEST(ErrorTable, NamesAreUniqueAndTextsAreSentences) {
  std::set<std::string_view> names;
  for (const ErrorInfo& row : error_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    ASSERT_FALSE(row.sentence.empty()) << row.name;
    ASSERT_FALSE(row.remedy.empty()) << row.name;
    EXPECT_EQ(row.sentence.back(), '.') << row.name;
    EXPECT_EQ(row.remedy.back(), '.') << row.name;
    EXPECT_EQ(row.sentence.find('\n'), std::string_view::npos) << row.name;
    EXPECT_EQ(row.remedy.find('\n'), std::string_view::npos) << row.name;
  }
}

TEST(ErrorInfo, FindsEachRow) {
  for (const ErrorInfo& row : error_table()) {
    EXPECT_EQ(error_info(row.code).code, row.code);
    EXPECT_EQ(error_info(row.code).name, row.name);
  }
}

TEST(ErrorInfo, GivesTheInternalRowForNumbersWithoutOne) {
  EXPECT_EQ(error_info(static_cast<Code>(999)).code, Code::internal);
  EXPECT_EQ(error_info(static_cast<Code>(-1)).code, Code::internal);
  EXPECT_EQ(error_info(Code::ok).code, Code::internal);
}

TEST(Error, ReportIsMessageNotesRemedyAndCode) {
  const Error error(Code::wait_timeout, "rank 2 waited 30 s for signal 3", {"has 6, needs 7", "rank 0 died: SIGKILL"});
  EXPECT_STREQ(
      error.what(),
      "rank 2 waited 30 s for signal 3\n"
      "  has 6, needs 7\n"
      "  rank 0 died: SIGKILL\n"
      "  try: baton ps shows who waits for what; BATON_WAIT_TIMEOUT gives slower peers more time.  [BATON-E031]");
  EXPECT_EQ(error.code(), Code::wait_timeout);
  EXPECT_EQ(error.message(), "rank 2 waited 30 s for signal 3");
  EXPECT_THAT(error.notes(), testing::ElementsAre("has 6, needs 7", "rank 0 died: SIGKILL"));
}

TEST(Error, WritesSmallCodesWithThreeDigits) {
  const Error error(Code::invalid_argument, "count is -1");
  EXPECT_STREQ(error.what(), "count is -1\n  try: Correct the argument that the message names.  [BATON-E001]");
}

TEST(Error, ASituationHasARemedyOfItsOwn) {
  const Error error = error_in(Situation::named_twice, "rank 3 is named twice", {"note"});
  EXPECT_STREQ(error.what(), "rank 3 is named twice\n  note\n  try: Name each rank once.  [BATON-E001]");
  EXPECT_EQ(error.remedy(), "Name each rank once.");
  EXPECT_EQ(Error(Code::protocol, "x").remedy(), error_info(Code::protocol).remedy);
}

TEST(Error, EverySituationIsASentenceAndARemedy) {
  std::set<std::string_view> names;
  for (const SituationInfo& known : kSituations) {
    EXPECT_EQ(&info_of(known.situation), &known);
    EXPECT_TRUE(names.insert(known.name).second) << known.name;
    EXPECT_EQ(known.when.back(), '.') << known.name;
    EXPECT_EQ(known.remedy.back(), '.') << known.name;
  }
}

TEST(Error, SurvivesBeingCopiedAndCaughtAsAStandardException) {
  try {
    const Error original(Code::protocol, "bad magic", {"note"});
    throw Error(original);
  } catch (const std::runtime_error& caught) {
    const auto* error = dynamic_cast<const Error*>(&caught);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->code(), Code::protocol);
    EXPECT_THAT(error->what(), testing::HasSubstr("bad magic\n  note\n"));
  }
}

}  // namespace
}  // namespace baton
