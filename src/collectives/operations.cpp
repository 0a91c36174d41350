// The public functions that return when they are done.
#include <baton/collectives.hpp>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "collectives/communicator.hpp"
#include "collectives/requests.hpp"

namespace baton {
namespace {

using namespace collectives;

void make(const Domain& me, const Request& request) {
  if (me.size() == 1) return copy_alone(request);
  Communicator& communicator = Communicator::of(me);
  const Communicator::Turn turn(communicator, me);
  communicator.make(me, request.call, [&] { communicator.run(me, request); });
}

}  // namespace

void barrier(const Domain& me, const CollectiveOptions& options) { make(me, barrier_request(options)); }

void broadcast(const Domain& me, Data x, int root, const CollectiveOptions& options) {
  make(me, broadcast_request(me, x, root, options));
}

void reduce(const Domain& me, ConstData in, Data out, int root, ReduceOp op, const CollectiveOptions& options) {
  make(me, reduce_request(me, in, out, root, op, options));
}

void reduce(const Domain& me, Data x, int root, ReduceOp op, const CollectiveOptions& options) {
  reduce(me, x, x, root, op, options);
}

void allreduce(const Domain& me, ConstData in, Data out, ReduceOp op, const CollectiveOptions& options) {
  make(me, allreduce_request(in, out, op, options));
}

void allreduce(const Domain& me, Data x, ReduceOp op, const CollectiveOptions& options) {
  allreduce(me, x, x, op, options);
}

void reduce_scatter(const Domain& me, ConstData in, Data out, ReduceOp op, const CollectiveOptions& options) {
  make(me, reduce_scatter_request(me, in, out, op, options));
}

void allgather(const Domain& me, ConstData in, Data out, const CollectiveOptions& options) {
  make(me, allgather_request(me, in, out, options));
}

void gather(const Domain& me, ConstData in, Data out, int root, const CollectiveOptions& options) {
  make(me, gather_request(me, in, out, root, options));
}

void scatter(const Domain& me, ConstData in, Data out, int root, const CollectiveOptions& options) {
  make(me, scatter_request(me, in, out, root, options));
}

void allgather_blocks(const Domain& me, ConstData in, std::span<const Data> out, const CollectiveOptions& options) {
  std::vector<std::byte*> blocks;
  make(me, allgather_blocks_request(me, in, out, blocks, options));
}

void gather_blocks(const Domain& me, ConstData in, std::span<const Data> out, int root,
                   const CollectiveOptions& options) {
  std::vector<std::byte*> blocks;
  make(me, gather_blocks_request(me, in, out, root, blocks, options));
}

void scatter_blocks(const Domain& me, std::span<const ConstData> in, Data out, int root,
                    const CollectiveOptions& options) {
  std::vector<std::byte*> blocks;
  make(me, scatter_blocks_request(me, in, out, root, blocks, options));
}

void all_to_all(const Domain& me, ConstData in, Data out, const CollectiveOptions& options) {
  make(me, all_to_all_request(me, in, out, options));
}

void all_to_all_v(const Domain& me, ConstData in, std::span<const std::size_t> send_counts, Data out,
                  std::span<const std::size_t> receive_counts, const CollectiveOptions& options) {
  const Request request = all_to_all_v_request(me, in, send_counts, out, receive_counts, options);
  if (me.size() == 1) return copy_alone(request);
  Communicator& communicator = Communicator::of(me);
  const Communicator::Turn turn(communicator, me);
  communicator.make(me, request.call, [&] { communicator.run_all_to_all_v(me, request, send_counts, receive_counts); });
}

namespace {

void check_partner(const Domain& me, const char* what, int partner) {
  if (partner < 0 || partner >= me.size()) {
    throw Error(Code::out_of_range,
                fmt::format("{}: rank {} is outside 0..{} of \"{}\"", what, partner, me.size() - 1, me.name()));
  }
  if (partner == me.rank()) throw Error(Code::invalid_argument, fmt::format("{}: rank {} is this rank", what, partner));
}

}  // namespace

void send(const Domain& me, int to, ConstData data, const CollectiveOptions& options) {
  const Call call{Operation::barrier, data.element(), ReduceOp::sum, 0, data.count()};
  check_partner(me, "send", to);
  check_data(call, "data", data);
  Communicator& communicator = Communicator::of(me);
  const Communicator::Turn turn(communicator, me);
  communicator.send(to, data, fingerprint_of(call), options.timeout);
}

void recv(const Domain& me, int from, Data data, const CollectiveOptions& options) {
  const Call call{Operation::barrier, data.element(), ReduceOp::sum, 0, data.count()};
  check_partner(me, "recv", from);
  check_data(call, "data", data);
  Communicator& communicator = Communicator::of(me);
  const Communicator::Turn turn(communicator, me);
  communicator.receive(from, data, fingerprint_of(call), options.timeout);
}

}  // namespace baton
