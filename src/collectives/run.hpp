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

/// How the blocks of all ranks lie in the memory of one.
enum class Form : std::uint8_t { one_block, apart };

/// A call with the data of this rank.
struct Request {
  Call call;
  ConstData in;
  Data out;
  Algorithm algorithm = Algorithm::automatic;
  /// 0: Options::wait_timeout.
  std::chrono::nanoseconds timeout{0};
  /// The same on all ranks.
  Form form = Form::one_block;
  /// Blocks that lie apart, by rank: instead of `in` of a scatter, instead of `out` of a gather or an allgather.
  std::span<std::byte* const> blocks{};
};

/// Makes the call. The algorithm works through `mover`, which is `host` or something in front of it.
void run(const Domain& me, HostMover& host, Mover& mover, const Request& request);

/// The same once it is known how.
void run_planned(const Domain& me, HostMover& host, Mover& mover, const Request& request, const Plan& plan);
/// Its part for blocks that lie apart.
void run_apart(const Domain& me, HostMover& host, Mover& mover, const Request& request);
/// A rank's whole contribution to a call: what it would put into a slot.
[[nodiscard]] std::size_t contribution_bytes(const Call& call, int ranks);

/// Its part for data outside of windows, of an operation that has a root.
void run_streamed(HostMover& host, Mover& mover, const Request& request);
/// Its part for data that others reach by a call of the system: each contributes where its own lies.
inline constexpr std::size_t kAddressesBytes = 2 * sizeof(void*);
void run_read(HostMover& host, Mover& mover, const Request& request);
/// What each contributes to that: its addresses, or, of blocks that lie apart, the root where they are. Such a table is
/// never beside a record, whatever this rank has: all look for it in the same place.
[[nodiscard]] std::size_t told_bytes(const Request& request, int ranks);
/// An element for each rank does not fit into the staging area.
[[noreturn]] void throw_too_many(const HostMover& host, const Call& call);

/// The same for blocks of different sizes.
void run_all_to_all_v(const Domain& me, HostMover& host, Mover& mover, const Request& request,
                      std::span<const std::size_t> send_counts, std::span<const std::size_t> receive_counts);

/// What is taken where `asked` was asked for, for `bytes` of a rank. `memory` says who reaches all that of a rank.
[[nodiscard]] const AlgorithmInfo& choose_algorithm(const Call& call, Algorithm asked, std::size_t bytes, int ranks,
                                                    Location location, Reach memory);

}  // namespace baton::collectives
