// The part of a barrier that goes between hosts. Inside a host arrivals are counted (barrier_protocol.hpp); the member
// that completes the count tells one member of each other host, which writes it where the members of its host look.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "comm/delivery.hpp"
#include "comm/host_groups.hpp"
#include "comm/path.hpp"

namespace baton::comm {

class DomainState;

class FarBarrier {
 public:
  /// Begins to take what other hosts tell. The words for barrier_epoch_of() of `domain` are there.
  explicit FarBarrier(DomainState& domain);
  FarBarrier(const FarBarrier&) = delete;
  FarBarrier& operator=(const FarBarrier&) = delete;
  ~FarBarrier();

  /// All members of this host have arrived at `epoch`.
  void tell(std::uint64_t epoch);
  /// Whether all other hosts have told so. Sequentially consistent, as a test before a sleep must be.
  [[nodiscard]] bool all_told(std::uint64_t epoch) const noexcept;

 private:
  [[nodiscard]] wire::AllocationKey topic() const noexcept;
  void take(std::uint32_t source, std::span<const std::byte> bytes);

  DomainState& domain_;
  Path& path_;
};

}  // namespace baton::comm
