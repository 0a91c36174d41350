// Copies in calls that move more than the caches hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <baton/inproc.hpp>

#include "cases.hpp"
#include "collectives/copy_past_caches.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

TEST(PastCaches, AnyBytesFromAndToAnywhere) {
  constexpr std::size_t kLine = 64;
  constexpr std::byte kUntouched{0xee};
  std::vector<std::byte> from(5000 + 2 * kLine);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (const std::size_t bytes :
       std::initializer_list<std::size_t>{0, 1, 15, 63, 64, 65, 127, 128, 200, 4095, 4096, 4999}) {
    for (std::size_t target = 0; target <= kLine; target += 3) {
      for (const std::size_t source : std::initializer_list<std::size_t>{0, 1, 16, 61}) {
        std::vector<std::byte> to(bytes + 3 * kLine, kUntouched);
        collectives::copy_past_caches(to.data() + target, from.data() + source, bytes);
        std::vector<std::byte> expected(to.size(), kUntouched);
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(target));
        ASSERT_EQ(to, expected) << bytes << " bytes from " << source << " to " << target;
      }
    }
  }
}

/// The vectors of calls that just touch more than the caches hold, in elements of 8 bytes of a block.
std::vector<Case> cases_beyond_caches(std::size_t ranks) {
  const std::size_t elements = collectives::more_than_caches_hold() / sizeof(std::uint64_t) + 4096;
  std::vector<Case> cases;
  const auto add = [&](Operation operation, std::size_t count) {
    for (const Memory memory : {Memory::windows, Memory::own})
      cases.push_back({.operation = operation, .element = Element::uint64, .count = count, .memory = memory});
  };
  add(Operation::broadcast, elements / ranks);
  add(Operation::gather, elements / 2 / ranks);
  add(Operation::scatter, elements / 2 / ranks);
  add(Operation::allgather, elements / ranks / (ranks + 1));
  add(Operation::all_to_all, elements / 2 / ranks / ranks);
  add(Operation::all_to_all_v, elements / 2 / ranks / ranks);
  return cases;
}

TEST(PastCaches, CallsAreRight) {
#if defined(BATON_SANITIZE_THREAD)
  GTEST_SKIP() << "takes long under the thread sanitizer, and has no order that smaller calls have not";
#endif
  constexpr int kTwo = 2;
  if (collectives::more_than_caches_hold() > std::size_t{256} * 1024 * 1024) {
    GTEST_SKIP() << "the caches of this machine hold too much";
  }
  const std::vector<Case> cases = cases_beyond_caches(kTwo);
  std::size_t bytes = 0;
  for (const Case& one : cases) bytes = std::max(bytes, bytes_of(one, kTwo));
  run_ranks(kTwo, [&](Domain me) {
    const Buffers buffers(me, bytes);
    for (const Case& one : cases) {
      EXPECT_EQ(wrong_elements(me, buffers, one, 0), 0U) << describe(one) << " on rank " << me.rank();
    }
  });
}

}  // namespace
}  // namespace baton::test
