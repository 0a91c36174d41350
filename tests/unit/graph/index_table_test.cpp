#include "chip/graph/index_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <unordered_map>

#include "chip/graph/view.hpp"
#include "support/scale.hpp"

namespace baton::graph {
namespace {

TEST(IndexTable, AgreesWithAStandardMapWhereHashesCollide) {
  std::mt19937 random(5);
  for (const std::uint32_t hashes : {7U, 64U, 100000U}) {
    IndexTable table;
    std::unordered_map<std::uint32_t, std::uint32_t> model;  // value to hash
    for (int i = test::scaled(20000); i > 0; --i) {
      const auto value = static_cast<std::uint32_t>(random() % 300);
      const auto known = model.find(value);
      if (known == model.end()) {
        // Hashes near each other, and at the end of the table, where searches wrap around.
        const std::uint32_t hash = 0U - 3 + static_cast<std::uint32_t>(random() % hashes);
        table.insert(hash, value);
        model.emplace(value, hash);
      } else if (random() % 4 == 0 && !model.contains(value + 1000)) {
        table.replace(known->second, value, value + 1000);
        model.emplace(value + 1000, known->second);
        model.erase(value);
      } else {
        table.erase(known->second, value);
        model.erase(known);
      }
      ASSERT_EQ(table.size(), model.size());
      if (i % 16 != 0) continue;
      for (const auto& [at, hash] : model) {
        const std::uint32_t wanted = at;
        ASSERT_EQ(table.find(hash, [&](std::uint32_t found) { return found == wanted; }), wanted);
      }
      ASSERT_EQ(table.find(12345, [](std::uint32_t) { return false; }), IndexTable::kNone);
    }
  }
}

/// The hash of a run of bytes.
std::uint32_t hash_of(std::uint64_t start, std::uint64_t run) {
  View view;
  view.start = start;
  view.run = run;
  return view.hash();
}

TEST(ViewHash, NeighboursAreARowOfTheTable) {
  constexpr std::uint64_t kRow = 1U << IndexTable::kRowBits;
  for (const std::uint64_t run : {1U, 64U, 4096U}) {
    std::set<std::uint32_t> rows;
    for (std::uint64_t i = 0; i < 64 * kRow; ++i) {
      const std::uint32_t hash = hash_of(i * run, run);
      EXPECT_EQ(hash % kRow, i % kRow);
      rows.insert(hash / kRow);
    }
    EXPECT_GE(rows.size(), 63U) << "rows that meet";
    EXPECT_LE(rows.size(), 64U) << "a row that lies in several places";
  }
}

// A window that slides: all begin in the same row, and must not be taken for neighbours.
TEST(ViewHash, ViewsThatOverlapAreSpread) {
  for (const std::uint64_t step : {1U, 8U, 64U, 100U}) {
    std::set<std::uint32_t> hashes;
    for (std::uint64_t i = 0; i < 5000; ++i) hashes.insert(hash_of((1U << 30U) + i * step, 1U << 20U));
    EXPECT_GT(hashes.size(), 4900U) << "step " << step;
  }
}

}  // namespace
}  // namespace baton::graph
