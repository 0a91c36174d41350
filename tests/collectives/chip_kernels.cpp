#include <baton/comm_context.h>
#include <baton_kernel.hpp>
#include <collectives/collectives.hpp>

#include "chip_kernels.hpp"

namespace baton::test {
namespace {

using namespace baton::collectives;

struct Arguments {
  int64_t* args;
  int tensors = kTensorsOfCall;

  [[nodiscard]] const ChipTensor& tensor(int index) const { return *reinterpret_cast<const ChipTensor*>(args[index]); }
  template <class T>
  [[nodiscard]] T* data(int index) const {
    return reinterpret_cast<T*>(tensor(index).buffer.addr);
  }
  template <class T>
  [[nodiscard]] T scalar(int index) const {
    return from_u64<T>(static_cast<uint64_t>(args[tensors + index]));
  }
};

/// Operations that reduce, for elements that tiles combine.
template <class T>
void reducing(Member<T>& me, const Arguments& call, int64_t count) {
  const auto op = call.scalar<ReduceOp>(3);
  const int root = call.scalar<int32_t>(4);
  const auto algorithm = call.scalar<Algorithm>(5);
  switch (call.scalar<Operation>(1)) {
    case Operation::allreduce: return allreduce(me, call.data<T>(0), call.data<T>(1), count, op, algorithm);
    case Operation::reduce: return reduce(me, call.data<T>(0), call.data<T>(1), count, root, op, algorithm);
    case Operation::reduce_scatter: return reduce_scatter(me, call.data<T>(0), call.data<T>(1), count, op, algorithm);
    default: return;
  }
}

/// Operations that move blocks of any elements.
template <class T>
void moving(Member<T>& me, const Arguments& call, int64_t count) {
  const int root = call.scalar<int32_t>(4);
  const auto algorithm = call.scalar<Algorithm>(5);
  const T* x = call.data<T>(0);
  T* y = call.data<T>(1);
  switch (call.scalar<Operation>(1)) {
    case Operation::barrier: return barrier(me);
    case Operation::broadcast: return broadcast(me, x, y, count, root, algorithm);
    case Operation::allgather: return allgather(me, x, y, count, algorithm);
    case Operation::gather: return gather(me, x, y, count, root);
    case Operation::scatter: return scatter(me, x, y, count, root);
    case Operation::all_to_all: return all_to_all(me, x, y, count, algorithm);
    case Operation::all_to_all_v:
      return all_to_all_v(me, x, call.data<int32_t>(4), y, call.data<int32_t>(4) + me.size());
    default: return;
  }
}

template <class T>
Member<T> member_of(const Arguments& call) {
  return {call.scalar<const CommContext*>(0), call.data<std::byte>(2), static_cast<int64_t>(call.tensor(2).buffer.size),
          call.data<int32_t>(3), call.tensor(3).shapes[0]};
}

template <class T>
void pass_message(const Arguments& call) {
  Member<T> me = member_of<T>(call);
  const int to = call.scalar<int32_t>(1);
  const int from = call.scalar<int32_t>(3);
  const auto count = call.scalar<int64_t>(4);
  if (to >= 0 && from >= 0) return send_recv(me, to, call.data<T>(0), from, call.data<T>(1), count);
  if (to >= 0) return send(me, to, call.data<T>(0), count);
  recv(me, from, call.data<T>(1), count);
}

/// A member that leaves one wait out.
class SkippingMember : public Member<float> {
 public:
  using Whole = Member<float>;

  SkippingMember(const Whole& whole, int32_t& waits, int32_t left_out)
      : Whole(whole), waits_(waits), left_out_(left_out) {}

  void meet() {
    if (is_kept()) return Whole::meet();
    arrive();
  }
  void meet_on_core() { meet(); }
  void wait_step(int peer, uint64_t steps) {
    if (is_kept()) Whole::wait_step(peer, steps);
  }
  void wait_posted(int from) {
    if (is_kept()) Whole::wait_posted(from);
  }
  void wait_taken(int to) {
    if (is_kept()) Whole::wait_taken(to);
  }

 private:
  [[nodiscard]] bool is_kept() { return ++waits_ != left_out_; }

  int32_t& waits_;
  int32_t left_out_;
};

void call_without_a_wait(SkippingMember& me, const Arguments& call) {
  const auto algorithm = call.scalar<Algorithm>(5);
  const Work work = work_of<float>(call.scalar<int64_t>(6), call.scalar<ReduceOp>(3), call.scalar<int32_t>(4));
  const auto* x = call.data<const std::byte>(0);
  auto* y = call.data<std::byte>(1);
  switch (call.scalar<Operation>(1)) {
    case Operation::broadcast: return run_broadcast(me, work, algorithm, x, y);
    case Operation::reduce: return run_reduce(me, work, algorithm, x, y);
    case Operation::allreduce: return run_allreduce(me, work, algorithm, x, y);
    case Operation::reduce_scatter: return run_reduce_scatter(me, work, algorithm, x, y);
    case Operation::allgather: return run_allgather(me, work, algorithm, x, y);
    case Operation::gather: return run_gather(me, work, algorithm, x, y);
    case Operation::scatter: return run_scatter(me, work, algorithm, x, y);
    case Operation::all_to_all: return run_all_to_all(me, work, algorithm, x, y);
    case Operation::all_to_all_v:
      return run_all_to_all_v(me, work_of<float>(0), x, call.data<int32_t>(4), y, call.data<int32_t>(4) + me.size());
    default: return run_barrier(me);
  }
}

template <class T>
void call_with(const Arguments& call) {
  Member<T> me = member_of<T>(call);
  const auto count = call.scalar<int64_t>(6);
  if constexpr (OneElement<T>::kCombines) reducing(me, call, count);
  moving(me, call, count);
}

}  // namespace

BATON_KERNEL(notify_peer, InOut<int32_t> signal, const CommContext* context, int32_t peer) {
  pto::comm::Signal there(pto::comm::CommRemotePtr(context, signal.data(), peer));
  pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
}

BATON_KERNEL(pass_on, In<float> x, Out<float> y, Out<float> z, InOut<float> room, InOut<int32_t> signals,
             const CommContext* context) {
  Member<float> me(context, room, signals);
  const int last = me.size() - 1;
  if (last > 0) send_recv(me, around(me, 1), x.data(), around(me, -1), y.data(), x.size());
  if (me.rank() > 0) recv(me, me.rank() - 1, z.data(), z.size());
  if (me.rank() < last) send(me, me.rank() + 1, me.rank() == 0 ? x.data() : z.data(), x.size());
  // Other kinds follow in the same room.
  broadcast(me, z.data(), z.data(), z.size(), last);
}

BATON_KERNEL(copy_ints, In<int32_t> x, Out<int32_t> y) {
  for (int64_t i = 0; i < y.size(); ++i) y.data()[i] = x.data()[i];
}

BATON_KERNEL(increment, In<float> x, Out<float> y) {
  for (int64_t i = 0; i < y.size(); ++i) y.data()[i] = x.data()[i] + 1;
}

}  // namespace baton::test

extern "C" void collectives_test_call(std::int64_t* args) {
  using namespace baton::test;
  const Arguments call{args};
  switch (call.scalar<baton::Element>(2)) {
    case baton::Element::float32: return call_with<float>(call);
    case baton::Element::float16: return call_with<half>(call);
    case baton::Element::bfloat16: return call_with<bfloat16_t>(call);
    case baton::Element::int16: return call_with<int16_t>(call);
    case baton::Element::int32: return call_with<int32_t>(call);
    case baton::Element::uint8: return call_with<uint8_t>(call);
    default: return call_with<int64_t>(call);
  }
}

extern "C" void collectives_test_call_without_a_wait(std::int64_t* args) {
  using namespace baton::test;
  const Arguments call{args, kTensorsOfCall + 1};
  SkippingMember me(member_of<float>(call), *call.data<int32_t>(kTensorsOfCall), call.scalar<int32_t>(7));
  call_without_a_wait(me, call);
}

extern "C" void collectives_test_message(std::int64_t* args) {
  using namespace baton::test;
  const Arguments call{args};
  if (call.scalar<baton::Element>(2) == baton::Element::int32) return pass_message<int32_t>(call);
  pass_message<float>(call);
}
