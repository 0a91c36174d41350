#include "collectives/graph/collective_kernel.hpp"

#include <collectives/all_to_all_v.hpp>
#include <collectives/messages.hpp>
#include <collectives/operations.hpp>

#include "collectives/graph/sliced_member.hpp"

namespace baton::collectives {
namespace {

/// With views of windows, whatever of them others need.
void run_in_windows(SlicedMember& me, const Slice& slice, const Work& work) {
  me.announce(called_of(slice.operation, work, slice.algorithm));
  me.begin(0);
  switch (slice.operation) {
    case Operation::allreduce:
      slice.algorithm == Algorithm::one_phase ? allreduce_one_phase(me, work) : allreduce_mesh(me, work);
      break;
    case Operation::reduce: reduce_mesh(me, work); break;
    case Operation::broadcast: broadcast_mesh(me, work); break;
    case Operation::reduce_scatter: reduce_scatter_mesh(me, work); break;
    case Operation::allgather: allgather_mesh(me, work); break;
    case Operation::gather: gather_mesh(me, work); break;
    case Operation::scatter: scatter_mesh(me, work); break;
    case Operation::all_to_all: all_to_all_mesh(me, work); break;
    case Operation::barrier:
    case Operation::all_to_all_v: me.fail("operation ", static_cast<int>(slice.operation), " has other arguments");
  }
  me.end();
}

View view_of(std::byte* mine, const CommContext* window) {
  View view{mine, window == nullptr ? Reach::this_rank : Reach::all_ranks};
  view.window = window;
  return view;
}

}  // namespace
}  // namespace baton::collectives

extern "C" void baton_collective_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const TaskArguments arguments{args, 3};
  const Slice slice = arguments.slice();
  with_share<WaitingMember>(args, baton::size_of(slice.element),
                            [&](WaitingMember& real, const Work& call, const std::byte* x, std::byte* y) {
                              SlicedMember me(real, slice, args, arguments.scalar(2));
                              run_operation(me, slice.operation, call, slice.algorithm, x, y);
                            });
}

extern "C" void baton_window_collective_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const TaskArguments arguments{args, 3};
  const Slice slice = arguments.slice();
  const uint64_t count = arguments.scalar(2);
  const int block = get_block_idx(args);
  const int signal_count = signals_needed(static_cast<int>(arguments.context()->rankNum));
  auto* signals = reinterpret_cast<int32_t*>(arguments.data(2, 1));
  WaitingMember real(arguments.context(), nullptr, 0, signals + block * signal_count, signal_count);
  real.belong_to(signals, get_block_num(args));
  SlicedMember me(real, slice, args, count, static_cast<uint32_t>(arguments.scalar(5)));
  Work work = work_of(slice, baton::size_of(slice.element));
  const Share share = share_of(count, work.element_bytes, block, get_block_num(args));
  const std::size_t first = share.first * work.element_bytes;
  work.count = share.count;
  work.input_stride = work.output_stride = count * work.element_bytes;
  work.input =
      view_of(arguments.data(0, work.element_bytes) + first, from_u64<const CommContext*>(arguments.scalar(3)));
  work.output =
      view_of(arguments.data(1, work.element_bytes) + first, from_u64<const CommContext*>(arguments.scalar(4)));
  run_in_windows(me, slice, work);
}

extern "C" void baton_message_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const TaskArguments arguments{args, 3};
  const Slice slice = arguments.slice();
  with_message<WaitingMember>(
      args, baton::size_of(slice.element),
      [&](WaitingMember& real, const Work& call, Partners partners, const std::byte* x, std::byte* y) {
        SlicedMember me(real, slice, args, arguments.scalar(2));
        run_messages(me, call, partners, x, y);
      });
}

extern "C" void baton_barrier_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  with_meeting<WaitingMember>(args, [&](WaitingMember& real) {
    SlicedMember me(real, TaskArguments{args, 1}.slice(), args, 0);
    run_barrier(me);
  });
}

extern "C" void baton_all_to_all_v_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const Slice slice = TaskArguments{args, 5}.slice();
  with_counts<WaitingMember>(args, baton::size_of(slice.element),
                             [&](WaitingMember& real, const Work& call, const std::byte* x, const int32_t* send_counts,
                                 std::byte* y, const int32_t* receive_counts) {
                               SlicedMember me(real, slice, args, 0);
                               run_all_to_all_v(me, call, x, send_counts, y, receive_counts);
                             });
}
