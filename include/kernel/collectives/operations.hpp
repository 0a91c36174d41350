// Operations on bytes, for any mover that has a room: which algorithm, and how its data is staged.
//
// The outputs of these are private to their ranks: algorithms that work in outputs work in the room.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/bruck.hpp>
#include <collectives/fetch.hpp>
#include <collectives/interleaved_ring.hpp>
#include <collectives/mesh_blocks.hpp>
#include <collectives/recursive_halving.hpp>
#include <collectives/ring.hpp>
#include <collectives/staging.hpp>
#include <collectives/tree.hpp>

namespace baton::collectives {

/// Up to this size everybody reduces everything: one meeting less than a mesh, but P / 2 times as many bytes.
inline constexpr std::size_t kOnePhaseBytes = std::size_t{16} * 1024;

[[nodiscard]] AICORE constexpr Algorithm automatic_allreduce(std::size_t bytes, int ranks) {
  return ranks == 2 || bytes <= kOnePhaseBytes ? Algorithm::one_phase : Algorithm::mesh;
}

template <class Member>
AICORE void run_barrier(Member& me) {
  me.announce(Called{});
  me.begin(0);
  me.meet();
  me.end();
}

#define BATON_STAGED(algorithm, staging, function)           \
  run_staged(me, kOperation, call, staging, algorithm, x, y, \
             [](Member& mover, const Work& work) { function(mover, work); })

template <class Member>
AICORE void run_allreduce(Member& me, const Work& call, Algorithm algorithm, const std::byte* x, std::byte* y) {
  constexpr Operation kOperation = Operation::allreduce;
  constexpr Staging kPrivate{};
  constexpr Staging kInRoom{.in_output = true};
  if (algorithm == Algorithm::automatic) algorithm = automatic_allreduce(call.bytes(), me.size());
  switch (algorithm) {
    case Algorithm::one_phase: return BATON_STAGED(algorithm, kPrivate, allreduce_one_phase);
    case Algorithm::mesh: return BATON_STAGED(algorithm, kPrivate, allreduce_mesh);
    case Algorithm::ring: return BATON_STAGED(algorithm, kInRoom, allreduce_ring);
    case Algorithm::bidirectional_ring: return BATON_STAGED(algorithm, kInRoom, allreduce_bidirectional_ring);
    case Algorithm::interleaved_ring: return BATON_STAGED(algorithm, kInRoom, allreduce_interleaved_ring);
    case Algorithm::recursive_halving: return BATON_STAGED(algorithm, kInRoom, allreduce_recursive_halving);
    case Algorithm::tree: return BATON_STAGED(algorithm, kInRoom, allreduce_tree);
    default: me.fail("allreduce has no algorithm ", static_cast<int>(algorithm), " in kernels");
  }
}

template <class Member>
AICORE void run_reduce(Member& me, const Work& call, Algorithm algorithm, const std::byte* x, std::byte* y) {
  constexpr Operation kOperation = Operation::reduce;
  const int wanted = me.rank() == call.root ? 1 : 0;
  const Staging staging{.output_blocks = wanted, .in_output = algorithm == Algorithm::tree};
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::mesh: return BATON_STAGED(Algorithm::mesh, staging, reduce_mesh);
    case Algorithm::tree:
      return run_staged(me, kOperation, call, staging, algorithm, x, y, [](Member& mover, const Work& work) {
        reduce_tree(mover, work);
        mover.meet();  // parents have read what lies in the room
      });
    default: me.fail("reduce has no algorithm ", static_cast<int>(algorithm), " in kernels");
  }
}

/// The root's y becomes its x, too.
template <class Member>
AICORE void run_broadcast(Member& me, const Work& call, Algorithm algorithm, const std::byte* x, std::byte* y) {
  constexpr Operation kOperation = Operation::broadcast;
  const bool is_root = me.rank() == call.root;
  if (is_root) me.copy(y, x, call.bytes());
  const Staging staging{
      .input_blocks = is_root ? 1 : 0, .output_blocks = is_root ? 0 : 1, .in_output = algorithm == Algorithm::tree};
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::fetch: return BATON_STAGED(Algorithm::fetch, staging, broadcast_fetch);
    case Algorithm::mesh: return BATON_STAGED(algorithm, staging, broadcast_mesh);
    case Algorithm::tree: return BATON_STAGED(algorithm, staging, broadcast_tree);
    default: me.fail("broadcast has no algorithm ", static_cast<int>(algorithm), " in kernels");
  }
}

template <class Member>
AICORE void run_reduce_scatter(Member& me, const Work& call, Algorithm algorithm, const std::byte* x, std::byte* y) {
  constexpr Operation kOperation = Operation::reduce_scatter;
  const Staging staging{.input_blocks = me.size(), .room_blocks = me.size()};
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::mesh: return BATON_STAGED(Algorithm::mesh, staging, reduce_scatter_mesh);
    case Algorithm::ring: return BATON_STAGED(algorithm, staging, reduce_scatter_ring);
    default: me.fail("reduce_scatter has no algorithm ", static_cast<int>(algorithm), " in kernels");
  }
}

template <class Member>
AICORE void run_allgather(Member& me, const Work& call, Algorithm algorithm, const std::byte* x, std::byte* y) {
  constexpr Operation kOperation = Operation::allgather;
  const bool ring = algorithm == Algorithm::ring;
  const Staging staging{.output_blocks = me.size(), .room_blocks = ring ? me.size() : 1, .in_output = ring};
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::mesh: return BATON_STAGED(Algorithm::mesh, staging, allgather_mesh);
    case Algorithm::ring: return BATON_STAGED(algorithm, staging, allgather_ring);
    default: me.fail("allgather has no algorithm ", static_cast<int>(algorithm), " in kernels");
  }
}

template <class Member>
AICORE void run_gather(Member& me, const Work& call, Algorithm algorithm, const std::byte* x, std::byte* y) {
  constexpr Operation kOperation = Operation::gather;
  const Staging staging{.output_blocks = me.rank() == call.root ? me.size() : 0};
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::mesh: return BATON_STAGED(Algorithm::mesh, staging, gather_mesh);
    default: me.fail("gather has no algorithm ", static_cast<int>(algorithm), " in kernels");
  }
}

template <class Member>
AICORE void run_scatter(Member& me, const Work& call, Algorithm algorithm, const std::byte* x, std::byte* y) {
  constexpr Operation kOperation = Operation::scatter;
  const Staging staging{.input_blocks = me.rank() == call.root ? me.size() : 0, .room_blocks = me.size()};
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::mesh: return BATON_STAGED(Algorithm::mesh, staging, scatter_mesh);
    default: me.fail("scatter has no algorithm ", static_cast<int>(algorithm), " in kernels");
  }
}

template <class Member>
AICORE void run_all_to_all(Member& me, const Work& call, Algorithm algorithm, const std::byte* x, std::byte* y) {
  constexpr Operation kOperation = Operation::all_to_all;
  const int room_blocks = algorithm == Algorithm::bruck ? 2 * me.size() : me.size();
  const Staging staging{.input_blocks = me.size(), .output_blocks = me.size(), .room_blocks = room_blocks};
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::mesh: return BATON_STAGED(Algorithm::mesh, staging, all_to_all_mesh);
    case Algorithm::bruck: return BATON_STAGED(algorithm, staging, all_to_all_bruck);
    default: me.fail("all_to_all has no algorithm ", static_cast<int>(algorithm), " in kernels");
  }
}

#undef BATON_STAGED

/// Any of them.
template <class Member>
AICORE void run_operation(Member& me, Operation operation, const Work& call, Algorithm algorithm, const std::byte* x,
                          std::byte* y) {
  switch (operation) {
    case Operation::broadcast: return run_broadcast(me, call, algorithm, x, y);
    case Operation::reduce: return run_reduce(me, call, algorithm, x, y);
    case Operation::allreduce: return run_allreduce(me, call, algorithm, x, y);
    case Operation::reduce_scatter: return run_reduce_scatter(me, call, algorithm, x, y);
    case Operation::allgather: return run_allgather(me, call, algorithm, x, y);
    case Operation::gather: return run_gather(me, call, algorithm, x, y);
    case Operation::scatter: return run_scatter(me, call, algorithm, x, y);
    case Operation::all_to_all: return run_all_to_all(me, call, algorithm, x, y);
    case Operation::barrier:
    case Operation::all_to_all_v: break;
  }
  me.fail("operation ", static_cast<int>(operation), " has other arguments");
}

}  // namespace baton::collectives
