#include "chip/graph/index_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

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

}  // namespace
}  // namespace baton::graph
