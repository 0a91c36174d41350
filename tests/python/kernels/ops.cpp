// Kernels for the tests of the Python package.
#include <cassert>

#include <pto/comm/pto_comm_inst.hpp>

#include <baton_kernel.hpp>

BATON_KERNEL(scale, In<float> x, Out<float> y, float factor) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i) y.data()[i] = x.data()[i] * factor;
}

BATON_KERNEL(add_one, InOut<int> x) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) x.data()[i] += 1;
}

BATON_KERNEL(copy_bits, In<bfloat16_t> x, Out<bfloat16_t> y) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i) y.data()[i] = x.data()[i];
}

/// Ends when somebody notifies `signal`.
BATON_KERNEL(wait_for, InOut<int> signal) {
  pto::comm::Signal here(signal.data());
  pto::comm::TWAIT(here, 1, pto::comm::WaitCmp::GE);
}

/// Adds to the element of the next rank that corresponds to the first of `x`.
BATON_KERNEL(tell_next, InOut<int> x, std::uint64_t context) {
  auto* ctx = reinterpret_cast<CommContext*>(context);
  const int next = static_cast<int>((ctx->rankId + 1) % ctx->rankNum);
  pto::comm::Signal there(pto::comm::CommRemotePtr(ctx, x.data(), next));
  pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
}

/// Writes to the element of the next rank that corresponds to `x`, and then notifies `signal` there.
BATON_KERNEL(give_next, InOut<int> x, InOut<int> signal, std::uint64_t context, int value) {
  auto* ctx = reinterpret_cast<CommContext*>(context);
  const int next = static_cast<int>((ctx->rankId + 1) % ctx->rankNum);
  *pto::comm::CommRemotePtr(ctx, x.data(), next) = value;
  pto::comm::Signal there(pto::comm::CommRemotePtr(ctx, signal.data(), next));
  pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
}

BATON_KERNEL(copy_int, In<int> x, Out<int> y) { y.data()[0] = x.data()[0]; }

BATON_KERNEL(asserts, InOut<int> x) { assert(x.data() == nullptr); }
BATON_KERNEL(traps, InOut<int> x) {
  (void)x;
  __builtin_trap();
}
BATON_KERNEL(throws, InOut<int> x) {
  if (x.data() != nullptr) throw 5;
}
/// Until x[0] is 1, and calls nobody meanwhile.
BATON_KERNEL(spins, InOut<int> x) {
  const volatile int* first = x.data();
  while (*first != 1) {
  }
}
BATON_KERNEL(crash, InOut<int> x) { *reinterpret_cast<volatile int*>(8) = x.data()[0]; }
