#include "base/quote.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace baton {
namespace {

TEST(Printable, KeepsPrintableAsciiAndEscapesTheRest) {
  EXPECT_EQ(printable(" az~09"), " az~09");
  EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(printable("0\xe2\x80\x93"), "0\\xe2\\x80\\x93");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Quote, CutsLongTexts) {
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote("abc"), "\"abc\"");
  const std::string most(80, 'x');
  EXPECT_EQ(quote(most), fmt::format("\"{}\"", most));
  EXPECT_EQ(quote(most + "x"), fmt::format("\"{}\"...", most));
}

}  // namespace
}  // namespace baton
