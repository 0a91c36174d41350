#include "collectives/graph/collective_kernel.hpp"

#include <tensor.h>
#include <collectives/all_to_all_v.hpp>
#include <collectives/messages.hpp>
#include <collectives/operations.hpp>

#include "collectives/graph/sliced_member.hpp"

namespace baton::collectives {
namespace {

/// Arguments of a kernel with `tensors` tensors.
struct Arguments {
  int64_t* args;
  int tensors;

  [[nodiscard]] const ChipTensor& tensor(int index) const { return *reinterpret_cast<const ChipTensor*>(args[index]); }
  [[nodiscard]] std::byte* data(int index, std::size_t element_bytes) const {
    return reinterpret_cast<std::byte*>(tensor(index).buffer.addr) + tensor(index).start_offset * element_bytes;
  }
  [[nodiscard]] uint64_t scalar(int index) const { return static_cast<uint64_t>(args[tensors + index]); }
  [[nodiscard]] const CommContext* context() const { return from_u64<const CommContext*>(scalar(0)); }
  [[nodiscard]] Slice slice() const { return from_u64<Slice>(scalar(1)); }
};

Work work_of(const Slice& slice) {
  Work call;
  call.element = slice.element;
  call.element_bytes = baton::size_of(slice.element);
  call.op = slice.op;
  call.root = slice.root;
  return call;
}

/// Calls run(member, call, x, y) for the share of this block in the piece that the arguments say.
template <class Run>
void with_share(int64_t* args, const Run& run) {
  const Arguments arguments{args, 3};
  const Slice slice = arguments.slice();
  const auto room_bytes = static_cast<std::size_t>(arguments.scalar(5));
  const int block = get_block_idx(args);
  const int blocks = get_block_num(args);
  const int ranks = static_cast<int>(arguments.context()->rankNum);
  Work call = work_of(slice);
  const Share share = share_of(static_cast<std::size_t>(arguments.scalar(4)), call.element_bytes, block, blocks);
  call.count = share.count;
  call.input_stride = static_cast<std::size_t>(arguments.scalar(2)) * call.element_bytes;
  call.output_stride = call.input_stride;

  std::byte* signals = arguments.data(2, 1);
  std::byte* rooms = signals + static_cast<std::size_t>(blocks * signals_needed(ranks)) * sizeof(int32_t);
  auto* own_signals = reinterpret_cast<int32_t*>(signals) + block * signals_needed(ranks);
  WaitingMember real(arguments.context(), block_at(rooms, block, room_bytes), static_cast<int64_t>(room_bytes),
                     own_signals, signals_needed(ranks));
  real.belong_to(reinterpret_cast<int32_t*>(signals), blocks);
  SlicedMember me(real, slice, args, arguments.scalar(2));
  const std::size_t first = (static_cast<std::size_t>(arguments.scalar(3)) + share.first) * call.element_bytes;
  run(me, call, arguments.data(0, call.element_bytes) + first, arguments.data(1, call.element_bytes) + first);
}

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

/// The sum of a rank's counts is what its tensor has room for.
void check_sum(const WaitingMember& real, const char* tensor, const int32_t* counts, uint64_t elements) {
  int64_t sum = 0;
  for (int peer = 0; peer < real.size(); ++peer) sum += counts[peer];
  if (sum > static_cast<int64_t>(elements)) real.fail("the counts of `", tensor, "` are ", sum, ", it has ", elements);
}

}  // namespace
}  // namespace baton::collectives

extern "C" void baton_collective_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const Slice slice = Arguments{args, 3}.slice();
  with_share(args, [&](SlicedMember& me, const Work& call, const std::byte* x, std::byte* y) {
    run_operation(me, slice.operation, call, slice.algorithm, x, y);
  });
}

extern "C" void baton_window_collective_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const Arguments arguments{args, 3};
  const Slice slice = arguments.slice();
  const uint64_t count = arguments.scalar(2);
  const int block = get_block_idx(args);
  const int signal_count = signals_needed(static_cast<int>(arguments.context()->rankNum));
  auto* signals = reinterpret_cast<int32_t*>(arguments.data(2, 1));
  WaitingMember real(arguments.context(), nullptr, 0, signals + block * signal_count, signal_count);
  real.belong_to(signals, get_block_num(args));
  SlicedMember me(real, slice, args, count, static_cast<uint32_t>(arguments.scalar(5)));
  Work work = work_of(slice);
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
  const Arguments arguments{args, 3};
  const Partners partners{arguments.slice().root, static_cast<int>(arguments.scalar(6))};
  with_share(args, [&](SlicedMember& me, const Work& call, const std::byte* x, std::byte* y) {
    run_messages(me, call, partners, x, y);
  });
}

extern "C" void baton_barrier_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const Arguments arguments{args, 1};
  auto* signals = reinterpret_cast<int32_t*>(arguments.data(0, 1));
  WaitingMember real(arguments.context(), nullptr, 0, signals,
                     signals_needed(static_cast<int>(arguments.context()->rankNum)));
  real.belong_to(signals, static_cast<int>(arguments.scalar(2)));
  SlicedMember me(real, arguments.slice(), args, 0);
  run_barrier(me);
}

extern "C" void baton_all_to_all_v_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const Arguments arguments{args, 5};
  const Slice slice = arguments.slice();
  const Work call = work_of(slice);
  const auto blocks = static_cast<int>(arguments.scalar(2));
  const int signal_count = signals_needed(static_cast<int>(arguments.context()->rankNum));
  auto* signals = reinterpret_cast<int32_t*>(arguments.data(2, 1));
  // All blocks' room is one.
  WaitingMember real(arguments.context(), signals + blocks * signal_count, static_cast<int64_t>(arguments.scalar(3)),
                     signals, signal_count);
  real.belong_to(signals, blocks);
  SlicedMember me(real, slice, args, 0);
  const auto* send_counts = reinterpret_cast<const int32_t*>(arguments.data(3, sizeof(int32_t)));
  const auto* receive_counts = reinterpret_cast<const int32_t*>(arguments.data(4, sizeof(int32_t)));
  if (slice.slice == 0) {
    check_sum(real, "x", send_counts, arguments.scalar(4));
    check_sum(real, "y", receive_counts, arguments.scalar(5));
  }
  run_all_to_all_v(me, call, arguments.data(0, call.element_bytes), send_counts, arguments.data(1, call.element_bytes),
                   receive_counts);
}
