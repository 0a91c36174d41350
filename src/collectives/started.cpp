// The public functions that return at once, and their events.
#include <baton/started_collectives.hpp>

#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/requests.hpp"
#include "collectives/starter.hpp"

namespace baton {
namespace {

using namespace collectives;

/// Starts `body(domain, communicator)` as one call.
template <class Body>
Event start_call(const Domain& me, const Call& call, Body body) {
  Communicator& communicator = Communicator::of(me);
  auto started = std::make_unique<StartedCall>(me, [&communicator, call, body = std::move(body)](const Domain& domain) {
    communicator.throw_if_failed(domain);
    communicator.make(domain, call, [&] { body(domain, communicator); });
  });
  communicator.start(*started, me);
  return Event(std::move(started));
}

Event start(const Domain& me, const Request& request) {
  if (me.size() == 1) {
    copy_alone(request);
    return Event(std::make_unique<StartedCall>(me));
  }
  return start_call(me, request.call,
                    [request](const Domain& domain, Communicator& communicator) { communicator.run(domain, request); });
}

}  // namespace

Event::Event() noexcept = default;
Event::Event(std::unique_ptr<collectives::StartedCall> call) noexcept : call_(std::move(call)) {}
Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    finish();
    call_ = std::move(other.call_);
  }
  return *this;
}
Event::~Event() { finish(); }

void Event::finish() noexcept {
  if (call_ != nullptr) call_->wait();
}

bool Event::test() const noexcept { return call_ == nullptr || call_->ended(); }

void Event::wait() const {
  if (call_ == nullptr) return;
  call_->wait();
  call_->rethrow();
}

Event start_barrier(const Domain& me, const CollectiveOptions& options) { return start(me, barrier_request(options)); }

Event start_broadcast(const Domain& me, Data x, int root, const CollectiveOptions& options) {
  return start(me, broadcast_request(me, x, root, options));
}

Event start_reduce(const Domain& me, ConstData in, Data out, int root, ReduceOp op, const CollectiveOptions& options) {
  return start(me, reduce_request(me, in, out, root, op, options));
}

Event start_allreduce(const Domain& me, ConstData in, Data out, ReduceOp op, const CollectiveOptions& options) {
  return start(me, allreduce_request(in, out, op, options));
}

Event start_allreduce(const Domain& me, Data x, ReduceOp op, const CollectiveOptions& options) {
  return start_allreduce(me, x, x, op, options);
}

Event start_reduce_scatter(const Domain& me, ConstData in, Data out, ReduceOp op, const CollectiveOptions& options) {
  return start(me, reduce_scatter_request(me, in, out, op, options));
}

Event start_allgather(const Domain& me, ConstData in, Data out, const CollectiveOptions& options) {
  return start(me, allgather_request(me, in, out, options));
}

Event start_gather(const Domain& me, ConstData in, Data out, int root, const CollectiveOptions& options) {
  return start(me, gather_request(me, in, out, root, options));
}

Event start_scatter(const Domain& me, ConstData in, Data out, int root, const CollectiveOptions& options) {
  return start(me, scatter_request(me, in, out, root, options));
}

Event start_all_to_all(const Domain& me, ConstData in, Data out, const CollectiveOptions& options) {
  return start(me, all_to_all_request(me, in, out, options));
}

Event start_all_to_all_v(const Domain& me, ConstData in, std::span<const std::size_t> send_counts, Data out,
                         std::span<const std::size_t> receive_counts, const CollectiveOptions& options) {
  const Request request = all_to_all_v_request(me, in, send_counts, out, receive_counts, options);
  if (me.size() == 1) return start(me, request);
  const std::vector<std::size_t> sends(send_counts.begin(), send_counts.end());
  const std::vector<std::size_t> receives(receive_counts.begin(), receive_counts.end());
  return start_call(me, request.call, [=](const Domain& domain, Communicator& communicator) {
    communicator.run_all_to_all_v(domain, request, sends, receives);
  });
}

}  // namespace baton
