#include <baton/comm_context.h>
#include <baton_kernel.hpp>
#include <collectives/collectives.hpp>

#include "chip_kernels.hpp"

namespace baton::test {
namespace {

using namespace baton::collectives;

struct Arguments {
  int64_t* args;

  [[nodiscard]] const ChipTensor& tensor(int index) const { return *reinterpret_cast<const ChipTensor*>(args[index]); }
  template <class T>
  [[nodiscard]] T* data(int index) const {
    return reinterpret_cast<T*>(tensor(index).buffer.addr);
  }
  template <class T>
  [[nodiscard]] T scalar(int index) const {
    return from_u64<T>(static_cast<uint64_t>(args[5 + index]));
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

extern "C" void collectives_test_message(std::int64_t* args) {
  using namespace baton::test;
  const Arguments call{args};
  if (call.scalar<baton::Element>(2) == baton::Element::int32) return pass_message<int32_t>(call);
  pass_message<float>(call);
}
