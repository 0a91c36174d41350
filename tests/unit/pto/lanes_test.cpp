// The lanes of a core: what is divided among them comes out whole, whatever their number.
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <pto/target/lanes.hpp>

namespace {

using baton::kernel::for_cells;
using baton::kernel::Lanes;

TEST(Lanes, ShareTheCellsOfAGrid) {
  for (const std::uint32_t count : {1U, 2U, 3U, 7U, 256U}) {
    for (const auto& [rows, cols] :
         {std::pair{1U, 1U}, {1U, 1024U}, {5U, 3U}, {64U, 16U}, {3U, 257U}, {0U, 4U}, {4U, 0U}}) {
      std::multiset<std::pair<std::uint32_t, std::uint32_t>> seen;
      for (std::uint32_t lane = 0; lane < count; ++lane) {
        for_cells(Lanes{lane, count}, rows, cols, [&](std::uint32_t row, std::uint32_t col) {
          EXPECT_LT(row, rows);
          EXPECT_LT(col, cols);
          seen.emplace(row, col);
        });
      }
      EXPECT_EQ(seen.size(), std::size_t{rows} * cols) << count << " lanes, " << rows << " x " << cols;
      EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size()) << count << " lanes, " << rows << " x " << cols;
    }
  }
}

TEST(Lanes, AllWorkAndAreDoneWhenTheInstructionReturns) {
  std::vector<std::uint32_t> worked(PTO_LANES, 0);
  baton::kernel::on_lanes([at = worked.data()](Lanes lanes) { at[lanes.lane] = lanes.count; });
  EXPECT_EQ(worked, std::vector<std::uint32_t>(PTO_LANES, PTO_LANES));
}

}  // namespace
