// Ranks as fibers of one thread, whose turns follow from a seed.
#pragma once

#include <cstdint>
#include <functional>

#include <baton/domain.hpp>

namespace baton::test {

/// run_ranks() with BATON_SEED=`seed`, without the environment. Returns the error of the rank that failed first, if
/// any.
[[nodiscard]] std::string run_seeded(int ranks, std::uint64_t seed, const std::function<void(Domain)>& body);

}  // namespace baton::test
