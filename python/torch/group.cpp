#include "group.hpp"

#include <atomic>

#include <baton/collectives.hpp>
#include <baton/error.hpp>
#include <baton/join.hpp>

namespace baton::process_group {
namespace {

Failure::Kind kind_of(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::out_of_range:
    case Code::misaligned: return Failure::Kind::wrong_use;
    case Code::wait_timeout:
    case Code::join_timeout: return Failure::Kind::timeout;
    default: return Failure::Kind::other;
  }
}

/// Calls `body` and tells what Baton throws to who does not know its types.
template <class Body>
auto told(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Failure(error.what(), kind_of(error.code()));
  }
}

ConstData input(const Elements& x) { return {static_cast<const void*>(x.address), x.count, x.element}; }
Data output(const Elements& x) { return {x.address, x.count, x.element}; }
CollectiveOptions within(Group::Timeout timeout) {
  CollectiveOptions options;
  options.timeout = timeout;
  return options;
}

}  // namespace

struct Group::State {
  Domain me;
  bool left = false;
  std::atomic<bool> aborted{false};

  /// Throws if there is no membership any more.
  [[nodiscard]] const Domain& member() const {
    // Relaxed: who calls meanwhile may be told by Baton instead.
    if (aborted.load(std::memory_order_relaxed))
      throw Failure("baton: this rank has aborted the process group", Failure::Kind::other);
    if (left) throw Failure("baton: this rank has left the process group", Failure::Kind::other);
    return me;
  }
};

Group::Group(const char* rendezvous, int rank, int size) {
  told([&] {
    state_ = std::make_unique<State>();
    state_->me = join(rendezvous, rank, size);
    // What the first call allocates is allocated while all ranks are here: later they may be far apart.
    baton::barrier(state_->me);
  });
}

Group::~Group() = default;

void Group::barrier(Timeout timeout) {
  told([&] { baton::barrier(state_->member(), within(timeout)); });
}

void Group::broadcast(Elements x, int root, Timeout timeout) {
  told([&] { baton::broadcast(state_->member(), output(x), root, within(timeout)); });
}

void Group::reduce(Elements x, int root, ReduceOp op, Timeout timeout) {
  told([&] { baton::reduce(state_->member(), output(x), root, op, within(timeout)); });
}

void Group::allreduce(Elements x, ReduceOp op, Timeout timeout) {
  told([&] { baton::allreduce(state_->member(), output(x), op, within(timeout)); });
}

void Group::reduce_scatter(Elements in, Elements out, ReduceOp op, Timeout timeout) {
  told([&] { baton::reduce_scatter(state_->member(), input(in), output(out), op, within(timeout)); });
}

void Group::allgather(Elements in, Elements out, Timeout timeout) {
  told([&] { baton::allgather(state_->member(), input(in), output(out), within(timeout)); });
}

void Group::gather(Elements in, Elements out, int root, Timeout timeout) {
  told([&] { baton::gather(state_->member(), input(in), output(out), root, within(timeout)); });
}

void Group::scatter(Elements in, Elements out, int root, Timeout timeout) {
  told([&] { baton::scatter(state_->member(), input(in), output(out), root, within(timeout)); });
}

void Group::all_to_all(Elements in, Elements out, Timeout timeout) {
  told([&] { baton::all_to_all(state_->member(), input(in), output(out), within(timeout)); });
}

void Group::all_to_all_v(Elements in, std::span<const std::size_t> send_counts, Elements out,
                         std::span<const std::size_t> receive_counts, Timeout timeout) {
  told([&] {
    baton::all_to_all_v(state_->member(), input(in), send_counts, output(out), receive_counts, within(timeout));
  });
}

void Group::leave() noexcept {
  state_->left = true;
  state_->me = Domain();
}

void Group::abort(const char* reason) noexcept {
  state_->aborted.store(true, std::memory_order_relaxed);
  state_->me.leave_because(reason);
}

}  // namespace baton::process_group
