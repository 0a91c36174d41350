// From a call to an algorithm on data: where it lies, in which pieces.
#pragma once

#include <chrono>
#include <span>

#include <baton/collectives.hpp>
#include <baton/domain.hpp>

#include "collectives/call.hpp"
#include "collectives/host_mover.hpp"
#include "collectives/mover.hpp"
#include "collectives/selection.hpp"

namespace baton::collectives {

/// A call with the data of this rank.
struct Request {
  Call call;
  ConstData in;
  Data out;
  Algorithm algorithm = Algorithm::automatic;
  /// 0: Options::wait_timeout.
  std::chrono::nanoseconds timeout{0};
};

/// Makes the call. The algorithm works through `mover`, which is `host` or something in front of it.
void run(const Domain& me, HostMover& host, Mover& mover, const Request& request);

/// Its part for data outside of windows, of an operation that has a root.
void run_streamed(HostMover& host, Mover& mover, const Request& request);
/// Its part for data that others reach by a call of the system: each contributes where its own lies.
inline constexpr std::size_t kAddressesBytes = 2 * sizeof(void*);
void run_read(HostMover& host, Mover& mover, const Request& request);
/// An element for each rank does not fit into the staging area.
[[noreturn]] void throw_too_many(const HostMover& host, const Call& call);

/// The same for blocks of different sizes.
void run_all_to_all_v(const Domain& me, HostMover& host, Mover& mover, const Request& request,
                      std::span<const std::size_t> send_counts, std::span<const std::size_t> receive_counts);

/// What is taken where `asked` was asked for, for `bytes` of a rank. `memory` says who reaches all that of a rank.
[[nodiscard]] const AlgorithmInfo& choose_algorithm(const Call& call, Algorithm asked, std::size_t bytes, int ranks,
                                                    Location location, Reach memory);

}  // namespace baton::collectives
