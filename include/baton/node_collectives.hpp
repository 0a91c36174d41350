// Collectives of a node's chips: what an orchestration does with one tensor of each.
//
//   node.run([&](baton::Orchestration& orch) { baton::allreduce(orch, xs, chips); });
//
// xs[i] and ys[i] are tensors that chip workers[i] reaches: contiguous, all of one shape and type. Elements as in
// graph_collectives.hpp. The chips make it together, after the tasks that their tensors make them wait for.
#pragma once

#include <span>

#include <baton/collective_types.hpp>
#include <baton/export.hpp>
#include <baton/place.hpp>
#include <baton/tensor.hpp>
#include <baton/worker.hpp>

namespace baton {

/// Every xs[i] = all xs, reduced. Returns the task that stands for all chips.
BATON_API TaskId allreduce(Orchestration& orch, std::span<const Tensor> xs, std::span<const int> workers,
                           ReduceOp op = ReduceOp::sum, Place where = Place::here());
/// Every xs[i] = xs[root].
BATON_API TaskId broadcast(Orchestration& orch, std::span<const Tensor> xs, std::span<const int> workers, int root,
                           Place where = Place::here());
/// ys[i] = block i of all xs, reduced.
BATON_API TaskId reduce_scatter(Orchestration& orch, std::span<const Tensor> xs, std::span<const Tensor> ys,
                                std::span<const int> workers, ReduceOp op = ReduceOp::sum, Place where = Place::here());
/// Every ys[i] = all xs, in order.
BATON_API TaskId allgather(Orchestration& orch, std::span<const Tensor> xs, std::span<const Tensor> ys,
                           std::span<const int> workers, Place where = Place::here());
/// Block j of xs[i] becomes block i of ys[j].
BATON_API TaskId all_to_all(Orchestration& orch, std::span<const Tensor> xs, std::span<const Tensor> ys,
                            std::span<const int> workers, Place where = Place::here());

/// A run of its own on the first chips of the node, one for each tensor.
BATON_API void allreduce(Worker& node, std::span<const Tensor> xs, ReduceOp op = ReduceOp::sum,
                         Place where = Place::here());

}  // namespace baton
