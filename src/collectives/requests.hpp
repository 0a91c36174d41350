// What the public functions have in common: arguments are checked and become a request.
#pragma once

#include <span>
#include <vector>

#include <baton/collectives.hpp>

#include "collectives/run.hpp"

namespace baton::collectives {

/// Each throws if its arguments make no sense, before anything is done and only on this rank.
[[nodiscard]] Request barrier_request(const CollectiveOptions& options);
[[nodiscard]] Request broadcast_request(const Domain& me, Data x, int root, const CollectiveOptions& options);
[[nodiscard]] Request reduce_request(const Domain& me, ConstData in, Data out, int root, ReduceOp op,
                                     const CollectiveOptions& options);
[[nodiscard]] Request allreduce_request(ConstData in, Data out, ReduceOp op, const CollectiveOptions& options);
[[nodiscard]] Request reduce_scatter_request(const Domain& me, ConstData in, Data out, ReduceOp op,
                                             const CollectiveOptions& options);
[[nodiscard]] Request allgather_request(const Domain& me, ConstData in, Data out, const CollectiveOptions& options);
[[nodiscard]] Request gather_request(const Domain& me, ConstData in, Data out, int root,
                                     const CollectiveOptions& options);
[[nodiscard]] Request scatter_request(const Domain& me, ConstData in, Data out, int root,
                                      const CollectiveOptions& options);
[[nodiscard]] Request all_to_all_request(const Domain& me, ConstData in, Data out, const CollectiveOptions& options);
[[nodiscard]] Request all_to_all_v_request(const Domain& me, ConstData in, std::span<const std::size_t> send_counts,
                                           Data out, std::span<const std::size_t> receive_counts,
                                           const CollectiveOptions& options);

/// The same with blocks that lie apart; `blocks` are their addresses, for as long as the request is used.
[[nodiscard]] Request allgather_blocks_request(const Domain& me, ConstData in, std::span<const Data> out,
                                               std::vector<std::byte*>& blocks, const CollectiveOptions& options);
[[nodiscard]] Request gather_blocks_request(const Domain& me, ConstData in, std::span<const Data> out, int root,
                                            std::vector<std::byte*>& blocks, const CollectiveOptions& options);
[[nodiscard]] Request scatter_blocks_request(const Domain& me, std::span<const ConstData> in, Data out, int root,
                                             std::vector<std::byte*>& blocks, const CollectiveOptions& options);

void check_data(const Call& call, const char* which, const ConstData& data);

/// A request on a domain of one rank.
void copy_alone(const Request& request);

}  // namespace baton::collectives
