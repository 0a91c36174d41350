#include "group.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include <baton/collectives.hpp>
#include <baton/error.hpp>
#include <baton/join.hpp>

#include "mailbox.hpp"

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
template <class Kind>
std::vector<Kind> listed(std::span<const Elements> xs) {
  std::vector<Kind> list;
  list.reserve(xs.size());
  for (const Elements& x : xs) list.emplace_back(x.address, x.count, x.element);
  return list;
}
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
  std::mutex mutex;
  std::shared_ptr<Mailbox> mailbox;  // guarded by the mutex

  /// Throws if there is no membership any more.
  [[nodiscard]] const Domain& member() const {
    // Relaxed: who calls meanwhile may be told by Baton instead.
    if (aborted.load(std::memory_order_relaxed))
      throw Failure("baton: this rank has aborted the process group", Failure::Kind::other);
    if (left) throw_left();
    return me;
  }
  /// For as long as who called needs it, also if the group is left meanwhile.
  [[nodiscard]] std::shared_ptr<Mailbox> messages() {
    const std::lock_guard lock(mutex);
    if (!mailbox) throw_left();
    return mailbox;
  }
  [[noreturn]] static void throw_left() {
    throw Failure("baton: this rank has left the process group", Failure::Kind::other);
  }
};

Group::Group(const char* rendezvous, int rank, int size) {
  told([&] {
    state_ = std::make_unique<State>();
    state_->me = join(rendezvous, rank, size);
    // What the first call allocates is allocated while all ranks are here: later they may be far apart.
    baton::barrier(state_->me);
    state_->mailbox = std::make_shared<Mailbox>(state_->me);
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

void Group::allgather(Elements in, std::span<const Elements> out, Timeout timeout) {
  told([&] { baton::allgather_blocks(state_->member(), input(in), listed<Data>(out), within(timeout)); });
}

void Group::gather(Elements in, std::span<const Elements> out, int root, Timeout timeout) {
  told([&] { baton::gather_blocks(state_->member(), input(in), listed<Data>(out), root, within(timeout)); });
}

void Group::scatter(std::span<const Elements> in, Elements out, int root, Timeout timeout) {
  told([&] { baton::scatter_blocks(state_->member(), listed<ConstData>(in), output(out), root, within(timeout)); });
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

MessageHandle Group::send(int to, int tag, Elements data, std::shared_ptr<void> owner) {
  return told([&] {
    return state_->messages()->send(to, tag, data.address, data.count * size_of(data.element), data.element,
                                    std::move(owner));
  });
}

MessageHandle Group::receive(int from, int tag, Elements data, std::shared_ptr<void> owner) {
  return told([&] {
    return state_->messages()->receive(from, tag, data.address, data.count * size_of(data.element), data.element,
                                       std::move(owner));
  });
}

bool Group::test(const MessageHandle& message) {
  return told([&] { return state_->messages()->test(message); });
}

bool Group::wait(const MessageHandle& message, Timeout timeout) {
  return told([&] { return state_->messages()->wait_until(message, Mailbox::Clock::now() + timeout); });
}

void Group::when_ended(const MessageHandle& message, std::function<void()> at_end) {
  told([&] { state_->messages()->when_ended(message, std::move(at_end)); });
}

int Group::peer_of(const MessageHandle& message) { return message->peer; }

void Group::leave() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->mailbox.reset();
  }
  state_->left = true;
  state_->me = Domain();
}

void Group::abort(const char* reason) noexcept {
  state_->aborted.store(true, std::memory_order_relaxed);
  state_->me.leave_because(reason);
}

}  // namespace baton::process_group
