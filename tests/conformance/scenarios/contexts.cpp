// The table of windows that kernels receive.
#include <cstdint>
#include <vector>

#include <baton/comm_context.h>

#include "support/require.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;

std::uint64_t window_of(const CommContext& context, std::uint32_t rank) {
  if (rank < COMM_MAX_RANK_NUM) return context.windowsIn[rank];
  return reinterpret_cast<const CommContextLarge&>(context).more[rank - COMM_MAX_RANK_NUM];
}

/// Writes to every rank through the table; each must find what was meant for it.
void check_table(Domain domain) {
  const auto window = domain.window<std::uint32_t>("w", static_cast<std::size_t>(domain.size()));
  const CommContext& context = *window.context();
  REQUIRE_EQUAL(context.rankId, static_cast<std::uint32_t>(domain.rank()));
  REQUIRE_EQUAL(context.rankNum, static_cast<std::uint32_t>(domain.size()));
  REQUIRE_EQUAL(context.winSize, window.bytes());
  // Kernels return at once when there is no workspace.
  REQUIRE(context.workSpace != 0);
  REQUIRE(context.workSpaceSize != 0);
  REQUIRE_EQUAL(window_of(context, context.rankId), reinterpret_cast<std::uint64_t>(window.local()));
  for (std::uint32_t rank = 0; rank < context.rankNum; ++rank) {
    if (rank < COMM_MAX_RANK_NUM) REQUIRE_EQUAL(context.windowsIn[rank], context.windowsOut[rank]);
    auto* words = reinterpret_cast<std::uint32_t*>(window_of(context, rank));
    words[context.rankId] = 1000 * rank + context.rankId;
    // The address of a peer by the arithmetic that kernels use.
    REQUIRE(reinterpret_cast<std::uint64_t>(words) ==
            window_of(context, rank) +
                (window_of(context, context.rankId) - reinterpret_cast<std::uint64_t>(window.data())));
  }
  for (std::uint32_t rank = context.rankNum; rank < COMM_MAX_RANK_NUM; ++rank)
    REQUIRE_EQUAL(context.windowsIn[rank], 0U);
  domain.barrier();
  for (std::uint32_t rank = 0; rank < context.rankNum; ++rank) {
    REQUIRE_EQUAL(window[rank], 1000 * context.rankId + rank);
  }
  domain.barrier();
}

}  // namespace

SCENARIO(ContextsHoldEveryWindow, {.sizes = {1, 4}, .hostings = test::kOneHost}) {
  check_table(me);
  std::vector<int> reversed;
  for (int rank = me.size(); rank-- > 0;) reversed.push_back(rank);
  check_table(me.subset("reversed", reversed));
}

SCENARIO(ContextsAboveSixtyFourRanksAreLarger,
         {.sizes = {64, 65, 100}, .hostings = {test::Hosting::threads, test::Hosting::one_fiber_thread}}) {
  check_table(me);
}
