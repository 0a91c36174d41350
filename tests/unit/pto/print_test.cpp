// TPRINT, as its author reads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pto/pto-inst.hpp>

#include "test_core.hpp"

namespace baton::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

using Floats = pto::Tile<pto::TileType::Vec, float, 4, 8>;

Floats counted() {
  Floats tile;
  TASSIGN(tile, 0);
  for (int i = 0; i < 32; ++i) tile.SetValue(i, static_cast<float>(i) / 2);
  return tile;
}

/// What follows the line that describes the tile.
std::string body(const TestCore& core) { return core.printed().substr(core.printed().find('\n') + 1); }

TEST(Print, ShowsTheValidRegionAndWhereItWasAsked) {
  TestCore core;
  pto::TPRINT(counted());
  EXPECT_THAT(core.printed(), StartsWith("Vec tile, 4 x 8 of float, "));
  EXPECT_THAT(core.printed(), HasSubstr("print_test.cpp:"));
  EXPECT_EQ(body(core),
            "     0  0.5    1  1.5    2  2.5    3  3.5\n"
            "     4  4.5    5  5.5    6  6.5    7  7.5\n"
            "     8  8.5    9  9.5   10 10.5   11 11.5\n"
            "    12 12.5   13 13.5   14 14.5   15 15.5\n");
}

TEST(Print, ShowsAsManyRowsAndColumnsAsAskedInTheFormatAsked) {
  TestCore core;
  pto::TPRINT(counted(), {.rows = 2, .columns = 3, .format = "%.2f"});
  EXPECT_EQ(body(core), "  0.00 0.50 1.00 ...\n  4.00 4.50 5.00 ...\n  ...\n");
}

TEST(Print, RefusesFormatsThatDoNotConvertOneDouble) {
  for (const char* format : {"%d", "%s", "%f %f", "plain", "%", "%n", "%*f", "%lf"}) {
    TestCore core;
    try {
      pto::TPRINT(counted(), {.format = format});
      ADD_FAILURE() << format << " is accepted";
    } catch (const KernelFailure& failure) {
      EXPECT_EQ(failure.code, BATON_KERNEL_INVALID_ARGUMENT);
      EXPECT_THAT(failure.what(), HasSubstr("not one conversion of printf"));
    }
  }
  TestCore core;
  pto::TPRINT(counted(), {.rows = 1, .columns = 1, .format = "100%% %+08.3e"});
  EXPECT_EQ(body(core), "  100% +0.000e+00 ...\n  ...\n");
}

TEST(Print, KnowsElementsAndBoxes) {
  {
    TestCore core;
    pto::Tile<pto::TileType::Vec, int32_t, 2, 8, pto::BLayout::RowMajor, 2, 2> whole;
    TASSIGN(whole, 0);
    whole.SetValue(0, -7);
    whole.SetValue(1, 2'000'000'011);
    whole.SetValue(8, 1);
    whole.SetValue(9, 0);
    pto::TPRINT(whole);
    EXPECT_THAT(core.printed(), StartsWith("Vec tile, 2 x 2 of int32"));
    EXPECT_THAT(body(core), "          -7 2000000011\n           1          0\n");
  }
  {
    TestCore core;
    pto::TileLeft<half, 16, 16> boxed;
    TASSIGN(boxed, 0);
    for (int i = 0; i < 256; ++i) *kernel::element_at(boxed, i / 16, i % 16) = static_cast<half>(static_cast<float>(i));
    pto::TPRINT(boxed, {.rows = 2, .columns = 3});
    EXPECT_THAT(core.printed(), StartsWith("Left tile, 16 x 16 of half"));
    EXPECT_THAT(body(core), "   0  1  2 ...\n  16 17 18 ...\n  ...\n");
  }
}

}  // namespace
}  // namespace baton::test
