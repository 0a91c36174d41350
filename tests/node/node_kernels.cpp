#include "node_kernels.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>

#include <platform_comm/comm_context.h>
#include <baton_kernel.hpp>
#include <collectives/tile_lines.hpp>
#include <pto/comm/pto_comm_inst.hpp>

// Kernels are compiled with their assertions.
#undef NDEBUG
#include <cassert>

namespace {

template <class T>
T* at_peer(const CommContext* context, T* local, uint32_t peer) {
  const uint64_t offset = reinterpret_cast<uint64_t>(local) - context->windowsIn[context->rankId];
  return reinterpret_cast<T*>(context->windowsIn[peer] + offset);
}

/// One value to where it lies at a peer, which may be on another host.
void put(const CommContext* context, int64_t* local, uint32_t peer) {
  baton::collectives::copy_line(reinterpret_cast<uint8_t*>(at_peer(context, local, peer)),
                                reinterpret_cast<const uint8_t*>(local), sizeof *local);
}

void dawdle(int64_t milliseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < until) baton_core_current()->table->yield(baton_core_current());
}

void meet(const CommContext* context, int32_t* signal, int32_t epoch) {
  for (uint32_t peer = 0; peer < context->rankNum; ++peer) {
    pto::comm::Signal there(at_peer(context, signal, peer));
    pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
  }
  pto::comm::Signal here(signal);
  pto::comm::TWAIT(here, epoch * static_cast<int32_t>(context->rankNum), pto::comm::WaitCmp::GE);
}

}  // namespace

namespace baton::test {

BATON_KERNEL(node_twice, In<float> x, Out<float> y) {
  for (int64_t i = 0; i < y.size(); ++i) y.data()[i] = 2 * x.data()[i];
}

BATON_KERNEL(node_add, InOut<float> y, float k) {
  for (int64_t i = 0; i < y.size(); ++i) y.data()[i] += k;
}

BATON_KERNEL(node_refuse, InOut<float> y) {
  (void)y;
  static constexpr BatonPlace kPlace{"node_refuse", __FILE__, __LINE__, 0};
  const BatonFailure failure{BATON_KERNEL_INVALID_ARGUMENT, 0, &kPlace, "refused on purpose"};
  baton_core_current()->table->fail(baton_core_current(), &failure);
}

BATON_KERNEL(node_sum, InOut<int64_t> cells, InOut<int32_t> arrived, Out<int64_t> out, uint64_t context, int64_t value,
             int32_t round) {
  const auto* domain = reinterpret_cast<const CommContext*>(context);
  int64_t& own = cells.data()[domain->rankId];
  own = 100 * domain->rankId + value;
  for (uint32_t peer = 0; peer < domain->rankNum; ++peer) put(domain, &own, peer);
  meet(domain, arrived.data(), 2 * round - 1);
  int64_t sum = 0;
  for (uint32_t peer = 0; peer < domain->rankNum; ++peer) sum += cells.data()[peer];
  out.data()[0] = sum;
  // Nobody writes the next round before everybody has read this one.
  meet(domain, arrived.data(), 2 * round);
}

BATON_KERNEL(node_set, InOut<int64_t> out, int64_t index, int64_t value, int64_t late) {
  dawdle(late);
  out.data()[index] = value;
}

BATON_KERNEL(node_tell, InOut<int64_t> data, InOut<int32_t> arrived, uint64_t context, uint32_t peer, int64_t value,
             int64_t late) {
  dawdle(late);
  const auto* domain = reinterpret_cast<const CommContext*>(context);
  data.data()[0] = value;
  put(domain, data.data(), peer);
  pto::comm::Signal there(at_peer(domain, arrived.data(), peer));
  pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
}

BATON_KERNEL(node_next, In<int64_t> data, Out<int64_t> out) { out.data()[0] = data.data()[0] + 1; }

BATON_KERNEL(node_next_after, In<int32_t> token, In<int64_t> data, Out<int64_t> out) {
  out.data()[0] = data.data()[0] + token.size();
}

BATON_KERNEL(node_await, InOut<int32_t> signal, int32_t expected) {
  pto::comm::Signal one(signal.data());
  pto::comm::TWAIT(one, expected, pto::comm::WaitCmp::GE);
}

BATON_KERNEL(node_spin, InOut<float> y) {
  const volatile float* first = y.data();
  while (*first != 1.0F) {
  }
}

BATON_KERNEL(node_assert, InOut<float> y) { assert(y.data() == nullptr); }
BATON_KERNEL(node_trap, InOut<float> y) {
  (void)y;
  __builtin_trap();
}
BATON_KERNEL(node_throw, InOut<float> y) {
  if (y.data() != nullptr) throw 5;
}

BATON_KERNEL(node_die, InOut<float> y) {
  (void)y;
  ::kill(::getpid(), SIGKILL);
}

}  // namespace baton::test
