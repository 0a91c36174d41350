// A producer that notifies the next rank, and a consumer that uses the counter which the rank before has notified.
#include <baton_kernel.hpp>
#include <pto/comm/pto_comm_inst.hpp>

/// out = 2 in; then notifies the next rank.
BATON_KERNEL(produce, In<float> in, Out<float> out, int32_t* counter, CommContext* context) {
  for (int64_t i = 0; i < out.size(); ++i) out.data()[i] = 2 * in.data()[i];
  const auto next = static_cast<int>((context->rankId + 1) % context->rankNum);
  const pto::comm::Signal there(pto::comm::CommRemotePtr(context, counter, next));
  pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
}

/// Adds 1 to a counter of another rank.
BATON_KERNEL(tell, int32_t* counter, CommContext* context, int32_t rank) {
  const pto::comm::Signal there(pto::comm::CommRemotePtr(context, counter, rank));
  pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
}

/// result = out + the notifications of this round: a counter is never reset, `before` is what it had.
BATON_KERNEL(consume, In<float> out, Out<float> result, int32_t* counter, int32_t before) {
  const auto notified = static_cast<float>(*counter - before);
  for (int64_t i = 0; i < result.size(); ++i) result.data()[i] = out.data()[i] + notified;
}
