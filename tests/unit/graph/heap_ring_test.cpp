#include <gtest/gtest.h>

#include <map>
#include <set>

#include "chip/graph/heap_ring.hpp"
#include "random_tensor.hpp"
#include "support/scale.hpp"

namespace baton::graph {
namespace {

using test::pick;

TEST(HeapRing, GivesDisjointBlocksAndReusesThemInOrder) {
  test::Random random(22);
  for (std::uint64_t capacity : {64U, 1000U, 4096U}) {
    HeapRing ring(capacity, 16);
    std::map<HeapRing::BlockId, std::pair<std::uint64_t, std::uint64_t>> used;  // blocks and those after the oldest
    std::set<HeapRing::BlockId> freed;
    for (int i = test::scaled(20000); i > 0; --i) {
      const auto bytes = static_cast<std::uint64_t>(pick(random, 1, static_cast<std::int64_t>(capacity) / 3));
      const bool fits = ring.fits_after(bytes, ring.oldest());
      const auto block = ring.try_allocate(bytes);
      ASSERT_EQ(block.has_value(), fits);
      if (block) {
        ASSERT_EQ(block->offset % 16, 0U);
        ASSERT_LE(block->offset + bytes, capacity);
        for (const auto& [id, range] : used) {
          ASSERT_TRUE(block->offset + bytes <= range.first || range.second <= block->offset) << "overlaps " << id;
        }
        used.emplace(block->id, std::pair{block->offset, block->offset + bytes});
      } else {
        ASSERT_FALSE(used.empty()) << "an empty ring takes a third of itself";
      }
      if (!used.empty() && (!block || pick(random, 0, 1) == 0)) {
        auto at = used.begin();
        std::advance(at, pick(random, 0, static_cast<std::int64_t>(used.size()) - 1));
        if (freed.insert(at->first).second) ring.free(at->first);
        while (!used.empty() && freed.contains(used.begin()->first)) used.erase(used.begin());
      }
      ASSERT_EQ(ring.oldest(), used.empty() ? ring.next() : used.begin()->first);
    }
  }
}

TEST(HeapRing, TheSufficientCapacitySuffices) {
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::scaled(3000)); ++seed) {
    // The same requests in a ring of `capacity`; true if the last of them, which a smaller ring refused, fits.
    const auto run = [&](std::uint64_t capacity, std::uint64_t* sufficient) {
      test::Random random(seed);
      HeapRing ring(capacity, 16);
      const std::int64_t held_from = pick(random, 1, 10);
      for (std::int64_t i = 1;; ++i) {
        const auto bytes = static_cast<std::uint64_t>(pick(random, 1, 150));
        const auto held = std::min<HeapRing::BlockId>(static_cast<HeapRing::BlockId>(held_from), ring.next());
        auto block = ring.try_allocate(bytes);
        while (!block && ring.oldest() < held) {
          ring.free(ring.oldest());
          block = ring.try_allocate(bytes);
        }
        if (!block) {
          *sufficient = ring.sufficient_capacity(bytes, held);
          return i;
        }
        if (i == 200) return i;
      }
    };
    std::uint64_t sufficient = 0;
    const std::int64_t refused = run(512, &sufficient);
    ASSERT_GT(sufficient, 512U);
    std::uint64_t unused = 0;
    ASSERT_GT(run(sufficient, &unused), refused) << "seed " << seed << ": " << sufficient << " bytes";
    ASSERT_LE(sufficient, 512U + 3 * 160) << "a size close to what is needed";
  }
}

}  // namespace
}  // namespace baton::graph
