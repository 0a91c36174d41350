#include "base/edit_distance.hpp"

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("timeout", "timeout"), 0U);
  EXPECT_EQ(edit_distance("timout", "timeout"), 1U);
  EXPECT_EQ(edit_distance("timeoout", "timeout"), 1U);
  EXPECT_EQ(edit_distance("tineout", "timeout"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(EditDistance, CountsSwappedNeighboursAsOne) {
  EXPECT_EQ(edit_distance("rnak", "rank"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("abc", "cab"), 2U);
}

TEST(EditDistance, IsSymmetric) { EXPECT_EQ(edit_distance("launcher", "lunch"), edit_distance("lunch", "launcher")); }

}  // namespace
}  // namespace baton
