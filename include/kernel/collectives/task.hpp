// A collective as a task of a chip: its arguments, and what a block of the task does of it.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <intrinsic.h>
#include <tensor.h>
#include <collectives/member.hpp>
#include <collectives/work.hpp>

namespace baton::collectives {

/// Not cut into slices: the kernel waits on its core.
inline constexpr int kWhole = -1;

/// What the kernel does; one scalar argument. Of a message, `root` is the rank that x goes to, -1 if it goes nowhere.
struct Slice {
  Operation operation;
  Element element;
  ReduceOp op;
  Algorithm algorithm;
  std::int16_t root;
  std::int8_t slice;
  std::int8_t slices;
};
static_assert(sizeof(Slice) == 8);

/// Arguments of a kernel with `tensors` tensors. The first scalars are the context and a Slice.
struct TaskArguments {
  int64_t* args;
  int tensors;

  [[nodiscard]] AICORE const ChipTensor& tensor(int index) const {
    return *reinterpret_cast<const ChipTensor*>(args[index]);
  }
  [[nodiscard]] AICORE std::byte* data(int index, std::size_t element_bytes) const {
    return reinterpret_cast<std::byte*>(tensor(index).buffer.addr) + tensor(index).start_offset * element_bytes;
  }
  [[nodiscard]] AICORE uint64_t scalar(int index) const { return static_cast<uint64_t>(args[tensors + index]); }
  [[nodiscard]] AICORE const CommContext* context() const { return from_u64<const CommContext*>(scalar(0)); }
  [[nodiscard]] AICORE Slice slice() const { return from_u64<Slice>(scalar(1)); }
  [[nodiscard]] AICORE int ranks() const { return static_cast<int>(context()->rankNum); }
};

/// `element_bytes`: of an element of the slice.
AICORE inline Work work_of(const Slice& slice, std::size_t element_bytes) {
  Work call;
  call.element = slice.element;
  call.element_bytes = element_bytes;
  call.op = slice.op;
  call.root = slice.root;
  return call;
}

/// Tensors: x, y, room. Scalars: the context, a Slice, elements of a block of x or y, the first element and the number
/// of elements of this piece, bytes of the room of one block. Each block of the task does a share of the piece in a
/// room of its own: run(member, call, x, y).
template <class Member, class Run>
AICORE void with_share(int64_t* args, std::size_t element_bytes, const Run& run) {
  const TaskArguments arguments{args, 3};
  const auto room_bytes = static_cast<std::size_t>(arguments.scalar(5));
  const int block = get_block_idx(args);
  const int blocks = get_block_num(args);
  const int signal_count = static_cast<int>(signals_needed(arguments.ranks()));
  Work call = work_of(arguments.slice(), element_bytes);
  const Share share = share_of(static_cast<std::size_t>(arguments.scalar(4)), element_bytes, block, blocks);
  call.count = share.count;
  call.input_stride = static_cast<std::size_t>(arguments.scalar(2)) * element_bytes;
  call.output_stride = call.input_stride;

  auto* signals = reinterpret_cast<int32_t*>(arguments.data(2, 1));
  auto* rooms = reinterpret_cast<std::byte*>(signals + blocks * signal_count);
  Member me(arguments.context(), block_at(rooms, block, room_bytes), static_cast<int64_t>(room_bytes),
            signals + block * signal_count, signal_count);
  me.belong_to(signals, blocks);
  const std::size_t first = (static_cast<std::size_t>(arguments.scalar(3)) + share.first) * element_bytes;
  run(me, call, arguments.data(0, element_bytes) + first, arguments.data(1, element_bytes) + first);
}

/// The same with one more scalar: the rank that y comes from, or -1. run(member, call, partners, x, y).
template <class Member, class Run>
AICORE void with_message(int64_t* args, std::size_t element_bytes, const Run& run) {
  const TaskArguments arguments{args, 3};
  const Partners partners{arguments.slice().root, static_cast<int>(arguments.scalar(6))};
  with_share<Member>(args, element_bytes, [&](Member& me, const Work& call, const std::byte* x, std::byte* y) {
    run(me, call, partners, x, y);
  });
}

/// Tensor: room. Scalars: the context, a Slice, the blocks that the room is made for. run(member).
template <class Member, class Run>
AICORE void with_meeting(int64_t* args, const Run& run) {
  const TaskArguments arguments{args, 1};
  auto* signals = reinterpret_cast<int32_t*>(arguments.data(0, 1));
  Member me(arguments.context(), nullptr, 0, signals, signals_needed(arguments.ranks()));
  me.belong_to(signals, static_cast<int>(arguments.scalar(2)));
  run(me);
}

/// The sum of a rank's counts is what its tensor has room for.
template <class Member>
AICORE void check_sum(const Member& me, const char* tensor, const int32_t* counts, uint64_t elements) {
  int64_t sum = 0;
  for (int peer = 0; peer < me.size(); ++peer) sum += counts[peer];
  if (sum > static_cast<int64_t>(elements)) me.fail("the counts of `", tensor, "` are ", sum, ", it has ", elements);
}

/// Tensors: x, y, room, counts of what is sent and of what is received. Scalars: the context, a Slice, the blocks
/// that the room is made for, bytes of the room of all of them, elements of x and of y.
/// run(member, call, x, counts, y, counts).
template <class Member, class Run>
AICORE void with_counts(int64_t* args, std::size_t element_bytes, const Run& run) {
  const TaskArguments arguments{args, 5};
  const Slice slice = arguments.slice();
  const auto blocks = static_cast<int>(arguments.scalar(2));
  const int signal_count = static_cast<int>(signals_needed(arguments.ranks()));
  auto* signals = reinterpret_cast<int32_t*>(arguments.data(2, 1));
  // All blocks' room is one.
  Member me(arguments.context(), signals + blocks * signal_count, static_cast<int64_t>(arguments.scalar(3)), signals,
            signal_count);
  me.belong_to(signals, blocks);
  const auto* send_counts = reinterpret_cast<const int32_t*>(arguments.data(3, sizeof(int32_t)));
  const auto* receive_counts = reinterpret_cast<const int32_t*>(arguments.data(4, sizeof(int32_t)));
  if (slice.slice <= 0) {
    check_sum(me, "x", send_counts, arguments.scalar(4));
    check_sum(me, "y", receive_counts, arguments.scalar(5));
  }
  run(me, work_of(slice, element_bytes), arguments.data(0, element_bytes), send_counts,
      arguments.data(1, element_bytes), receive_counts);
}

}  // namespace baton::collectives
