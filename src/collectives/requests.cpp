#include "collectives/requests.hpp"

#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::collectives {

namespace {

/// No process has memory behind this, on any 64-bit processor: a count beyond it was calculated wrongly.
constexpr std::uintptr_t kEndOfMemory = std::uintptr_t{1} << 56U;

std::size_t bytes_behind(const std::byte* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at < kEndOfMemory ? kEndOfMemory - at : 0;
}

/// What is wrong with data that fails a check. The checks themselves are short: they are part of every call.
[[noreturn]] void throw_unsound(const Call& call, const char* which, const ConstData& data) {
  if (!is_known(data.element())) {
    throw Error(Code::invalid_argument, fmt::format("{}: `{}` has elements of kind {}, which does not exist",
                                                    name_of(call.operation), which, static_cast<int>(data.element())));
  }
  if (data.address() == nullptr && data.count() != 0) {
    throw Error(Code::invalid_argument,
                fmt::format("{}: `{}` has {} elements at no address", describe(call), which, data.count()));
  }
  const std::size_t element_bytes = size_of(data.element());
  if (reinterpret_cast<std::uintptr_t>(data.address()) % element_bytes != 0) {
    throw Error(Code::misaligned, fmt::format("{}: `{}` is not aligned to its elements of {} bytes", describe(call),
                                              which, element_bytes));
  }
  if (data.count() > bytes_behind(data.address()) / element_bytes) {
    throw Error(Code::out_of_range,
                fmt::format("{}: `{}` ends beyond the memory of any process", describe(call), which));
  }
  throw Error(Code::out_of_range, fmt::format("{}: `{}` is outside of this rank's part of \"{}\", which has {} bytes",
                                              describe(call), which, data.window()->name(), data.window()->bytes()));
}

bool is_sound(const ConstData& data) {
  if (!is_known(data.element())) return false;
  const std::size_t element_bytes = size_of(data.element());  // a power of two
  if ((data.address() == nullptr && data.count() != 0) ||
      (reinterpret_cast<std::uintptr_t>(data.address()) & (element_bytes - 1)) != 0 ||
      data.count() > bytes_behind(data.address()) / element_bytes) {
    return false;
  }
  return data.window() == nullptr || data.window()->is_local(data.address(), data.count() * element_bytes);
}

}  // namespace

void check_data(const Call& call, const char* which, const ConstData& data) {
  if (!is_sound(data)) [[unlikely]]
    throw_unsound(call, which, data);
}

void copy_alone(const Request& request) {
  const bool gives = request.form == Form::apart && request.call.operation == Operation::scatter;
  const bool takes = request.form == Form::apart && !gives;
  const std::byte* from = gives ? request.blocks[0] : request.in.address();
  std::byte* to = takes ? request.blocks[0] : request.out.address();
  const std::size_t bytes = (gives ? request.out.count() : request.in.count()) * size_of(request.call.element);
  if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

namespace {

/// `data` must have `count` elements of the call's kind.
void check_count(const Call& call, const char* which, const ConstData& data, std::size_t count) {
  check_data(call, which, data);
  if (data.count() != count || (count != 0 && data.element() != call.element)) {
    throw Error(Code::invalid_argument,
                fmt::format("{}: `{}` has {} {}, but {} {} are needed", describe(call), which, data.count(),
                            name_of(data.element()), count, name_of(call.element)));
  }
}

void check_op(const Call& call) {
  if (is_known(call.op) && is_bitwise(call.op) && !is_integer(call.element)) {
    throw Error(Code::invalid_argument,
                fmt::format("{}: {} has no bits to combine; integers have", describe(call), name_of(call.element)));
  }
  if (is_known(call.op)) return;
  throw Error(Code::invalid_argument, fmt::format("{}: there is no operation {} on elements", name_of(call.operation),
                                                  static_cast<int>(call.op)));
}

/// Of data that was checked.
void check_apart(const Call& call, int rank, const ConstData& in, const ConstData& out) {
  const std::size_t element_bytes = size_of(call.element);
  if (lie_apart(call.operation, rank, in.address(), in.count() * element_bytes, out.address(),
                out.count() * element_bytes)) {
    return;
  }
  throw Error(Code::invalid_argument,
              fmt::format("{}: `in` and `out` overlap by a part: {} elements at {} and {} at {}", describe(call),
                          in.count(), fmt::ptr(in.address()), out.count(), fmt::ptr(out.address())));
}

void check_root(const Domain& me, const Call& call) {
  if (call.root < 0 || call.root >= me.size()) {
    throw Error(Code::out_of_range, fmt::format("{}: rank {} is outside 0..{} of \"{}\"", name_of(call.operation),
                                                call.root, me.size() - 1, me.name()));
  }
}

std::size_t ranks_of(const Domain& me) { return static_cast<std::size_t>(me.size()); }

/// `count` for each rank; more than any data has if that overflows.
std::size_t blocks_of(std::size_t count, const Domain& me) {
  std::size_t all = 0;
  return __builtin_mul_overflow(count, ranks_of(me), &all) ? std::numeric_limits<std::size_t>::max() : all;
}

std::size_t sum_of(std::span<const std::size_t> counts) {
  std::size_t sum = 0;
  for (const std::size_t count : counts) {
    if (__builtin_add_overflow(sum, count, &sum)) return std::numeric_limits<std::size_t>::max();
  }
  return sum;
}

Request request_of(const Call& call, ConstData in, Data out, const CollectiveOptions& options) {
  if (options.algorithm != Algorithm::automatic && find_algorithm(call.operation, options.algorithm) == nullptr) {
    throw Error(Code::unsupported,
                fmt::format("{} has no algorithm {}", name_of(call.operation), name_of(options.algorithm)));
  }
  return {call, in, out, options.algorithm, options.timeout};
}

}  // namespace

Request barrier_request(const CollectiveOptions& options) { return request_of({}, {}, {}, options); }

Request broadcast_request(const Domain& me, Data x, int root, const CollectiveOptions& options) {
  const Call call{Operation::broadcast, x.element(), ReduceOp::sum, root, x.count()};
  check_root(me, call);
  check_data(call, "x", x);
  return request_of(call, x, x, options);
}

Request reduce_request(const Domain& me, ConstData in, Data out, int root, ReduceOp op,
                       const CollectiveOptions& options) {
  const Call call{Operation::reduce, in.element(), op, root, in.count()};
  check_root(me, call);
  check_data(call, "in", in);
  check_op(call);
  if (me.rank() == root) {
    check_count(call, "out", out, in.count());
    check_apart(call, me.rank(), in, out);
  }
  return request_of(call, in, out, options);
}

Request allreduce_request(ConstData in, Data out, ReduceOp op, const CollectiveOptions& options) {
  const Call call{Operation::allreduce, in.element(), op, 0, in.count()};
  check_data(call, "in", in);
  check_op(call);
  check_count(call, "out", out, in.count());
  check_apart(call, 0, in, out);
  return request_of(call, in, out, options);
}

Request reduce_scatter_request(const Domain& me, ConstData in, Data out, ReduceOp op,
                               const CollectiveOptions& options) {
  const Call call{Operation::reduce_scatter, out.element(), op, 0, out.count()};
  check_data(call, "out", out);
  check_op(call);
  check_count(call, "in", in, blocks_of(out.count(), me));
  check_apart(call, me.rank(), in, out);
  return request_of(call, in, out, options);
}

Request allgather_request(const Domain& me, ConstData in, Data out, const CollectiveOptions& options) {
  const Call call{Operation::allgather, in.element(), ReduceOp::sum, 0, in.count()};
  check_data(call, "in", in);
  check_count(call, "out", out, blocks_of(in.count(), me));
  check_apart(call, me.rank(), in, out);
  return request_of(call, in, out, options);
}

Request gather_request(const Domain& me, ConstData in, Data out, int root, const CollectiveOptions& options) {
  const Call call{Operation::gather, in.element(), ReduceOp::sum, root, in.count()};
  check_root(me, call);
  check_data(call, "in", in);
  if (me.rank() == root || out.window() != nullptr) check_count(call, "out", out, blocks_of(in.count(), me));
  if (me.rank() == root) check_apart(call, root, in, out);
  return request_of(call, in, out, options);
}

Request scatter_request(const Domain& me, ConstData in, Data out, int root, const CollectiveOptions& options) {
  const Call call{Operation::scatter, out.element(), ReduceOp::sum, root, out.count()};
  check_root(me, call);
  check_data(call, "out", out);
  if (me.rank() == root || in.window() != nullptr) check_count(call, "in", in, blocks_of(out.count(), me));
  if (me.rank() == root) check_apart(call, root, in, out);
  return request_of(call, in, out, options);
}

namespace {

/// Checks the blocks of all ranks, one by one, and returns their addresses.
template <class Byte>
std::vector<std::byte*> blocks_of(const Domain& me, const Call& call, const char* which,
                                  std::span<const BasicData<Byte>> data) {
  if (data.size() != ranks_of(me)) {
    throw Error(Code::invalid_argument,
                fmt::format("{}: {} blocks in `{}` for {} ranks", describe(call), data.size(), which, me.size()));
  }
  std::vector<std::byte*> blocks;
  blocks.reserve(data.size());
  for (const BasicData<Byte>& one : data) {
    check_count(call, which, one, call.count);
    // Of a scatter they are only read.
    blocks.push_back(const_cast<std::byte*>(one.address()));
  }
  return blocks;
}

Request request_apart(const Call& call, ConstData in, Data out, std::span<std::byte* const> blocks,
                      const CollectiveOptions& options) {
  Request request = request_of(call, in, out, options);
  request.form = Form::apart;
  request.blocks = blocks;
  return request;
}

/// Only a rank's own block may be its data; no other may overlap with it.
void check_blocks_apart(const Domain& me, const Call& call, const ConstData& data, std::span<std::byte* const> blocks) {
  const std::size_t bytes = call.count * size_of(call.element);
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    const std::byte* block = blocks[rank];
    if (block == data.address() && rank == static_cast<std::size_t>(me.rank())) continue;
    if (block + bytes <= data.address() || data.address() + bytes <= block) continue;
    throw Error(Code::invalid_argument, fmt::format("{}: the block of rank {} overlaps with the data of rank {}",
                                                    describe(call), rank, me.rank()));
  }
}

}  // namespace

Request allgather_blocks_request(const Domain& me, ConstData in, std::span<const Data> out,
                                 std::vector<std::byte*>& blocks, const CollectiveOptions& options) {
  const Call call{Operation::allgather, in.element(), ReduceOp::sum, 0, in.count()};
  check_data(call, "in", in);
  blocks = blocks_of(me, call, "out", out);
  check_blocks_apart(me, call, in, blocks);
  return request_apart(call, in, {}, blocks, options);
}

Request gather_blocks_request(const Domain& me, ConstData in, std::span<const Data> out, int root,
                              std::vector<std::byte*>& blocks, const CollectiveOptions& options) {
  const Call call{Operation::gather, in.element(), ReduceOp::sum, root, in.count()};
  check_root(me, call);
  check_data(call, "in", in);
  if (me.rank() == root) {
    blocks = blocks_of(me, call, "out", out);
    check_blocks_apart(me, call, in, blocks);
  }
  return request_apart(call, in, {}, blocks, options);
}

Request scatter_blocks_request(const Domain& me, std::span<const ConstData> in, Data out, int root,
                               std::vector<std::byte*>& blocks, const CollectiveOptions& options) {
  const Call call{Operation::scatter, out.element(), ReduceOp::sum, root, out.count()};
  check_root(me, call);
  check_data(call, "out", out);
  if (me.rank() == root) {
    blocks = blocks_of(me, call, "in", in);
    check_blocks_apart(me, call, out, blocks);
  }
  return request_apart(call, {}, out, blocks, options);
}

Request all_to_all_request(const Domain& me, ConstData in, Data out, const CollectiveOptions& options) {
  const Call call{Operation::all_to_all, in.element(), ReduceOp::sum, 0, in.count() / ranks_of(me)};
  check_count(call, "in", in, call.count * ranks_of(me));
  check_count(call, "out", out, in.count());
  check_apart(call, me.rank(), in, out);
  return request_of(call, in, out, options);
}

Request all_to_all_v_request(const Domain& me, ConstData in, std::span<const std::size_t> send_counts, Data out,
                             std::span<const std::size_t> receive_counts, const CollectiveOptions& options) {
  const Call call{Operation::all_to_all_v, in.element(), ReduceOp::sum, 0, 0};
  if (send_counts.size() != ranks_of(me) || receive_counts.size() != ranks_of(me)) {
    throw Error(Code::invalid_argument, fmt::format("{}: {} and {} counts for {} ranks", describe(call),
                                                    send_counts.size(), receive_counts.size(), me.size()));
  }
  check_count(call, "in", in, sum_of(send_counts));
  check_count(call, "out", out, sum_of(receive_counts));
  check_apart(call, me.rank(), in, out);
  return request_of(call, in, out, options);
}

}  // namespace baton::collectives
