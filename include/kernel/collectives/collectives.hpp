// Collectives inside a kernel: functions that all members of a domain call with their data.
//
//   baton::collectives::Member<float> me(context, room, signals);
//   baton::collectives::allreduce(me, x.data(), y.data(), x.size());
//
// `room` and `signals` are buffers in the window of the domain; signals_needed(ranks) says how many signals, and the
// room may have any size: data passes through it in pieces. x and y lie anywhere. Nothing is ever reset: collectives of
// all kinds follow each other in one room, in the order in which all members call them. Members that call different
// things learn of it before any of them waits. The functions use the first kTileLineBytes bytes of the unified buffer.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/all_to_all_v.hpp>
#include <collectives/member.hpp>
#include <collectives/messages.hpp>
#include <collectives/operations.hpp>

namespace baton::collectives {

/// What a typed call is, for the operations on bytes.
template <typename T>
[[nodiscard]] AICORE Work work_of(int64_t count, ReduceOp op = ReduceOp::sum, int root = 0) {
  Work work;
  work.element = element_of<T>();
  work.element_bytes = sizeof(T);
  work.op = op;
  work.root = root;
  work.count = static_cast<std::size_t>(count);
  work.input_stride = work.bytes();
  work.output_stride = work.bytes();
  return work;
}

namespace detail {

template <typename T>
AICORE const std::byte* bytes_of(const T* data) {
  return reinterpret_cast<const std::byte*>(data);
}
template <typename T>
AICORE std::byte* bytes_of(T* data) {
  return reinterpret_cast<std::byte*>(data);
}

template <typename T>
AICORE void check_combines(const Member<T>& me, ReduceOp op) {
  static_assert(OneElement<T>::kCombines, "tiles combine float, half, bfloat16_t, int16_t and int32_t");
  if (!is_operation(op)) me.fail("there is no operation ", static_cast<int>(op), " on elements");
  if (!can_combine(element_of<T>(), op)) me.fail("tiles divide no integers: there is no avg of them");
}
template <typename T>
AICORE void check_root(const Member<T>& me, int root) {
  if (root < 0 || root >= me.size()) me.fail("root ", root, " is outside of 0 to ", me.size() - 1);
}

/// x and y have `x_blocks` and `y_blocks` blocks of `count` elements; 0 blocks: this rank has none.
template <typename T>
AICORE void check_data(const Member<T>& me, Operation operation, const T* x, int x_blocks, const T* y, int y_blocks,
                       int64_t count) {
  constexpr int64_t kMostBytes = int64_t{1} << 56;  // more than any memory
  if (count < 0 || count > kMostBytes / static_cast<int64_t>(sizeof(T)) / me.size())
    me.fail("a collective of ", count, " elements");
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  if (!lie_apart(operation, me.rank(), bytes_of(x), bytes * static_cast<std::size_t>(x_blocks), bytes_of(y),
                 bytes * static_cast<std::size_t>(y_blocks)))
    me.fail("x and y of a collective overlap by a part");
}

}  // namespace detail

/// Returns when all have called it.
template <class Elements>
AICORE void barrier(BasicMember<Elements>& me) {
  run_barrier(me);
}

/// y = x of all ranks, reduced. y may be x.
template <typename T>
AICORE void allreduce(Member<T>& me, const T* x, T* y, int64_t count, ReduceOp op = ReduceOp::sum,
                      Algorithm algorithm = Algorithm::automatic) {
  detail::check_combines(me, op);
  detail::check_data(me, Operation::allreduce, x, 1, y, 1, count);
  run_allreduce(me, work_of<T>(count, op), algorithm, detail::bytes_of(x), detail::bytes_of(y));
}

/// y of `root` = x of all ranks, reduced. The others have no y.
template <typename T>
AICORE void reduce(Member<T>& me, const T* x, T* y, int64_t count, int root, ReduceOp op = ReduceOp::sum,
                   Algorithm algorithm = Algorithm::automatic) {
  detail::check_combines(me, op);
  detail::check_root(me, root);
  detail::check_data(me, Operation::reduce, x, 1, y, me.rank() == root ? 1 : 0, count);
  run_reduce(me, work_of<T>(count, op, root), algorithm, detail::bytes_of(x), detail::bytes_of(y));
}

/// y = x of `root`. The others have no x.
template <typename T>
AICORE void broadcast(Member<T>& me, const T* x, T* y, int64_t count, int root,
                      Algorithm algorithm = Algorithm::automatic) {
  detail::check_root(me, root);
  detail::check_data(me, Operation::broadcast, x, me.rank() == root ? 1 : 0, y, 1, count);
  run_broadcast(me, work_of<T>(count, ReduceOp::sum, root), algorithm, detail::bytes_of(x), detail::bytes_of(y));
}

/// y = this rank's block of x, reduced over all ranks. x has a block of `block` elements for each rank.
template <typename T>
AICORE void reduce_scatter(Member<T>& me, const T* x, T* y, int64_t block, ReduceOp op = ReduceOp::sum,
                           Algorithm algorithm = Algorithm::automatic) {
  detail::check_combines(me, op);
  detail::check_data(me, Operation::reduce_scatter, x, me.size(), y, 1, block);
  run_reduce_scatter(me, work_of<T>(block, op), algorithm, detail::bytes_of(x), detail::bytes_of(y));
}

/// y = the blocks of all ranks, by rank.
template <typename T>
AICORE void allgather(Member<T>& me, const T* x, T* y, int64_t block, Algorithm algorithm = Algorithm::automatic) {
  detail::check_data(me, Operation::allgather, x, 1, y, me.size(), block);
  run_allgather(me, work_of<T>(block), algorithm, detail::bytes_of(x), detail::bytes_of(y));
}

/// y of `root` = the blocks of all ranks, by rank. The others have no y.
template <typename T>
AICORE void gather(Member<T>& me, const T* x, T* y, int64_t block, int root) {
  detail::check_root(me, root);
  detail::check_data(me, Operation::gather, x, 1, y, me.rank() == root ? me.size() : 0, block);
  run_gather(me, work_of<T>(block, ReduceOp::sum, root), Algorithm::automatic, detail::bytes_of(x),
             detail::bytes_of(y));
}

/// y = this rank's block of the x of `root`. The others have no x.
template <typename T>
AICORE void scatter(Member<T>& me, const T* x, T* y, int64_t block, int root) {
  detail::check_root(me, root);
  detail::check_data(me, Operation::scatter, x, me.rank() == root ? me.size() : 0, y, 1, block);
  run_scatter(me, work_of<T>(block, ReduceOp::sum, root), Algorithm::automatic, detail::bytes_of(x),
              detail::bytes_of(y));
}

/// Block r of x becomes this rank's block in the y of rank r. y may be x.
template <typename T>
AICORE void all_to_all(Member<T>& me, const T* x, T* y, int64_t block, Algorithm algorithm = Algorithm::automatic) {
  detail::check_data(me, Operation::all_to_all, x, me.size(), y, me.size(), block);
  run_all_to_all(me, work_of<T>(block), algorithm, detail::bytes_of(x), detail::bytes_of(y));
}

/// The same with blocks of different sizes, one after another: send_counts[r] elements for rank r,
/// receive_counts[r] from it. Counts lie in global memory, one for each rank; x and y must not overlap.
template <typename T>
AICORE void all_to_all_v(Member<T>& me, const T* x, const int32_t* send_counts, T* y, const int32_t* receive_counts) {
  run_all_to_all_v(me, work_of<T>(0), detail::bytes_of(x), send_counts, detail::bytes_of(y), receive_counts);
}

/// To rank `to`, which calls recv() with the same count; in the order of the calls. Returns when it has been taken.
template <typename T>
AICORE void send(Member<T>& me, int to, const T* x, int64_t count) {
  detail::check_data<T>(me, Operation::barrier, x, 1, nullptr, 0, count);
  run_messages(me, work_of<T>(count), {.to = to}, detail::bytes_of(x), nullptr);
}
template <typename T>
AICORE void recv(Member<T>& me, int from, T* y, int64_t count) {
  detail::check_data<T>(me, Operation::barrier, nullptr, 0, y, 1, count);
  run_messages(me, work_of<T>(count), {.from = from}, nullptr, detail::bytes_of(y));
}
/// Both at once: x to `to`, y from `from`. Two ranks that send to each other use this.
template <typename T>
AICORE void send_recv(Member<T>& me, int to, const T* x, int from, T* y, int64_t count) {
  detail::check_data<T>(me, Operation::barrier, x, 1, y, 1, count);
  run_messages(me, work_of<T>(count), {to, from}, detail::bytes_of(x), detail::bytes_of(y));
}

}  // namespace baton::collectives
