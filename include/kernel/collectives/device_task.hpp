// Collectives as tasks of chips that run no code of the host. libbaton writes a kernel for each operation, algorithm
// and type of element that is used, which calls one of these; it waits on its core.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/all_to_all_v.hpp>
#include <collectives/messages.hpp>
#include <collectives/operations.hpp>
#include <collectives/task.hpp>

namespace baton::collectives {

/// `T`: of elements that are reduced; of others only their size counts.
template <typename T, Operation kOperation, Algorithm kAlgorithm>
AICORE void run_device_task(int64_t* args) {
  with_share<Member<T>>(args, sizeof(T), [](Member<T>& me, const Work& call, const std::byte* x, std::byte* y) {
    if constexpr (kOperation == Operation::allreduce) run_allreduce(me, call, kAlgorithm, x, y);
    if constexpr (kOperation == Operation::reduce) run_reduce(me, call, kAlgorithm, x, y);
    if constexpr (kOperation == Operation::broadcast) run_broadcast(me, call, kAlgorithm, x, y);
    if constexpr (kOperation == Operation::reduce_scatter) run_reduce_scatter(me, call, kAlgorithm, x, y);
    if constexpr (kOperation == Operation::allgather) run_allgather(me, call, kAlgorithm, x, y);
    if constexpr (kOperation == Operation::gather) run_gather(me, call, kAlgorithm, x, y);
    if constexpr (kOperation == Operation::scatter) run_scatter(me, call, kAlgorithm, x, y);
    if constexpr (kOperation == Operation::all_to_all) run_all_to_all(me, call, kAlgorithm, x, y);
  });
}

template <typename T>
AICORE void run_device_message(int64_t* args) {
  with_message<Member<T>>(args, sizeof(T),
                          [](Member<T>& me, const Work& call, Partners partners, const std::byte* x, std::byte* y) {
                            run_messages(me, call, partners, x, y);
                          });
}

AICORE inline void run_device_barrier(int64_t* args) {
  with_meeting<Member<uint8_t>>(args, [](Member<uint8_t>& me) { run_barrier(me); });
}

template <typename T>
AICORE void run_device_all_to_all_v(int64_t* args) {
  with_counts<Member<T>>(
      args, sizeof(T),
      [](Member<T>& me, const Work& call, const std::byte* x, const int32_t* send_counts, std::byte* y,
         const int32_t* receive_counts) { run_all_to_all_v(me, call, x, send_counts, y, receive_counts); });
}

}  // namespace baton::collectives
