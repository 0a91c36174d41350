// All algorithms of host programs.
#include <collectives/bruck.hpp>
#include <collectives/fetch.hpp>
#include <collectives/interleaved_ring.hpp>
#include <collectives/mesh_blocks.hpp>
#include <collectives/recursive_halving.hpp>
#include <collectives/ring.hpp>
#include <collectives/tree.hpp>

#include "collectives/algorithms/algorithms.hpp"
#include "collectives/selection.hpp"

namespace baton::collectives {
namespace {

constexpr AlgorithmInfo kTable[] = {
    {Operation::barrier, Algorithm::exchange, Needs::contributions, barrier_exchange},
    {Operation::barrier, Algorithm::meeting, Needs::contributions, barrier_meeting},
    {Operation::broadcast, Algorithm::eager, Needs::contributions, broadcast_eager},
    {Operation::broadcast, Algorithm::fetch, Needs::data, broadcast_fetch<Mover>},
    {Operation::broadcast, Algorithm::read, Needs::memory, nullptr},
    {Operation::broadcast, Algorithm::mesh, Needs::data, broadcast_mesh<Mover>},
    {Operation::broadcast, Algorithm::tree, Needs::outputs, broadcast_tree<Mover>},
    {Operation::reduce, Algorithm::eager, Needs::contributions, reduce_eager},
    {Operation::reduce, Algorithm::fetch, Needs::data, reduce_fetch<Mover>},
    {Operation::reduce, Algorithm::mesh, Needs::data, reduce_mesh<Mover>},
    {Operation::reduce, Algorithm::tree, Needs::outputs, reduce_tree<Mover>},
    {Operation::allreduce, Algorithm::exchange, Needs::contributions, allreduce_exchange},
    {Operation::allreduce, Algorithm::meeting, Needs::contributions, allreduce_meeting},
    {Operation::allreduce, Algorithm::one_phase, Needs::other_output, allreduce_one_phase<Mover>},
    {Operation::allreduce, Algorithm::read, Needs::memory, nullptr},
    {Operation::allreduce, Algorithm::mesh, Needs::data, allreduce_mesh<Mover>},
    {Operation::allreduce, Algorithm::ring, Needs::outputs, allreduce_ring<Mover>},
    {Operation::allreduce, Algorithm::bidirectional_ring, Needs::outputs, allreduce_bidirectional_ring<Mover>},
    {Operation::allreduce, Algorithm::interleaved_ring, Needs::outputs, allreduce_interleaved_ring<Mover>},
    {Operation::allreduce, Algorithm::recursive_halving, Needs::outputs, allreduce_recursive_halving<Mover>},
    {Operation::allreduce, Algorithm::tree, Needs::outputs, allreduce_tree<Mover>},
    {Operation::reduce_scatter, Algorithm::exchange, Needs::contributions, reduce_scatter_exchange},
    {Operation::reduce_scatter, Algorithm::meeting, Needs::contributions, reduce_scatter_meeting},
    {Operation::reduce_scatter, Algorithm::read, Needs::memory, nullptr},
    {Operation::reduce_scatter, Algorithm::mesh, Needs::data, reduce_scatter_mesh<Mover>},
    {Operation::reduce_scatter, Algorithm::ring, Needs::staged_input, reduce_scatter_ring<Mover>},
    {Operation::allgather, Algorithm::exchange, Needs::contributions, allgather_exchange},
    {Operation::allgather, Algorithm::meeting, Needs::contributions, allgather_meeting},
    {Operation::allgather, Algorithm::read, Needs::memory, nullptr},
    {Operation::allgather, Algorithm::mesh, Needs::data, allgather_mesh<Mover>},
    {Operation::allgather, Algorithm::ring, Needs::outputs, allgather_ring<Mover>},
    {Operation::gather, Algorithm::eager, Needs::contributions, gather_eager},
    {Operation::gather, Algorithm::fetch, Needs::data, gather_fetch<Mover>},
    {Operation::gather, Algorithm::write, Needs::memory, nullptr},
    {Operation::gather, Algorithm::mesh, Needs::data, gather_mesh<Mover>},
    {Operation::scatter, Algorithm::eager, Needs::contributions, scatter_eager},
    {Operation::scatter, Algorithm::fetch, Needs::data, scatter_fetch<Mover>},
    {Operation::scatter, Algorithm::read, Needs::memory, nullptr},
    {Operation::scatter, Algorithm::mesh, Needs::data, scatter_mesh<Mover>},
    {Operation::all_to_all, Algorithm::exchange, Needs::contributions, all_to_all_exchange},
    {Operation::all_to_all, Algorithm::meeting, Needs::contributions, all_to_all_meeting},
    {Operation::all_to_all, Algorithm::read, Needs::memory, nullptr},
    {Operation::all_to_all, Algorithm::mesh, Needs::data, all_to_all_mesh<Mover>},
    {Operation::all_to_all, Algorithm::bruck, Needs::staged_input, all_to_all_bruck<Mover>},
    {Operation::all_to_all_v, Algorithm::read, Needs::memory, nullptr},
    {Operation::all_to_all_v, Algorithm::mesh, Needs::data, nullptr},
};

}  // namespace

std::span<const AlgorithmInfo> all_algorithms() noexcept { return kTable; }

const AlgorithmInfo* find_algorithm(Operation operation, Algorithm algorithm) noexcept {
  for (const AlgorithmInfo& info : kTable) {
    if (info.operation == operation && info.algorithm == algorithm) return &info;
  }
  return nullptr;
}

}  // namespace baton::collectives
