// PTO_NO_CHECKS: the same results, no questions, nothing poisoned.
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"

namespace {

using baton::test::TestCore;
using namespace pto;

TEST(Unchecked, AsksAndReportsNothing) {
  static_assert(!baton::kernel::kChecks);
  TestCore core;
  core.watch();
  float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  float other = 0;
  core.allow("something else", &other, sizeof other);
  using Vec = Tile<TileType::Vec, float, 1, 16, BLayout::RowMajor, 1, 8>;
  Vec tile;
  TASSIGN(tile, 0);
  tile.data()[8] = 42.0f;
  GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<8, 8, 8, 8, 1>> tensor(data);
  TLOAD(tile, tensor);
  TADD(tile, tile, tile);
  TSTORE(tensor, tile);
  EXPECT_EQ(data[7], 16.0f);
  EXPECT_EQ(tile.data()[8], 42.0f);
  EXPECT_TRUE(core.issued().empty());
}

}  // namespace
