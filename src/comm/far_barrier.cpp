#include "comm/far_barrier.hpp"

#include <algorithm>
#include <cstring>

#include "comm/domain_state.hpp"

namespace baton::comm {
namespace {

/// Allocations of a domain count from 0: this one is never made.
constexpr std::uint64_t kBarrierTopic = ~std::uint64_t{0};

}  // namespace

FarBarrier::FarBarrier(DomainState& domain) : domain_(domain), path_(*domain.world().path()) {
  path_.delivery().listen(topic(),
                          [this](std::uint32_t source, std::span<const std::byte> bytes) { take(source, bytes); });
}

FarBarrier::~FarBarrier() { path_.delivery().stop_listening(topic()); }

wire::AllocationKey FarBarrier::topic() const noexcept { return {domain_.id(), kBarrierTopic}; }

void FarBarrier::tell(std::uint64_t epoch) {
  for (const HostGroups::Group& group : domain_.groups().elsewhere()) {
    path_.post(domain_.members()[group.front()], topic(), std::as_bytes(std::span(&epoch, 1)));
  }
}

bool FarBarrier::all_told(std::uint64_t epoch) const noexcept {
  const auto& groups = domain_.groups().elsewhere();
  return std::all_of(groups.begin(), groups.end(), [&](const HostGroups::Group& group) {
    // Pairs with the store in take().
    return domain_.barrier_epoch_of(group.front()).load(std::memory_order_seq_cst) >= epoch;
  });
}

void FarBarrier::take(std::uint32_t source, std::span<const std::byte> bytes) {
  std::uint64_t epoch = 0;
  if (bytes.size() != sizeof epoch) return;
  std::memcpy(&epoch, bytes.data(), sizeof epoch);
  for (const HostGroups::Group& group : domain_.groups().elsewhere()) {
    if (path_.host_of(domain_.members()[group.front()]) != path_.host_of(source)) continue;
    for (const std::uint32_t member : group) {
      std::atomic<std::uint64_t>& told = domain_.barrier_epoch_of(member);
      // Only this rank writes it. Another member of that host may have told the next epoch, and been faster.
      if (told.load(std::memory_order_relaxed) >= epoch) continue;
      // Pairs with the load in all_told(). Sequentially consistent because doorbells are rung after it.
      told.store(epoch, std::memory_order_seq_cst);
    }
  }
  for (const std::uint32_t member : domain_.groups().here()) domain_.world().ring(domain_.members()[member]);
}

}  // namespace baton::comm
