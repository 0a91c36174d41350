#include "reference_pages/pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/option_table.hpp"
#include "base/remedies.hpp"

namespace baton {
namespace {

using testing::HasSubstr;

TEST(ReferencePages, EveryErrorHasAnAnchorAndItsTexts) {
  const std::string page = error_page();
  for (const ErrorInfo& row : error_table()) {
    const int number = static_cast<int>(row.code);
    EXPECT_THAT(page, HasSubstr(fmt::format("<a id=\"e{:03}\"></a>\n\n## E{:03} {}\n", number, number, row.name)));
    EXPECT_THAT(page, HasSubstr(std::string(row.sentence)));
    EXPECT_THAT(page, HasSubstr("**Try:** " + std::string(row.remedy)));
  }
  for (const SituationInfo& known : kSituations) EXPECT_THAT(page, HasSubstr(std::string(known.remedy)));
}

TEST(ReferencePages, EveryOptionHasARow) {
  const std::string page = options_page();
  for (const OptionInfo& row : option_table()) {
    EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` |", row.name)));
    EXPECT_THAT(page, HasSubstr(std::string(row.sentence)));
  }
}

TEST(ReferencePages, EndWithOneNewline) {
  for (const std::string& page : {error_page(), options_page()}) {
    EXPECT_TRUE(page.ends_with("\n"));
    EXPECT_FALSE(page.ends_with("\n\n"));
  }
}

}  // namespace
}  // namespace baton
