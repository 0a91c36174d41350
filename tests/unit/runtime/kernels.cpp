#include "kernels.hpp"

#include <pto_async_kernel_api.h>
#include <baton_kernel.hpp>
#include <pto/comm/pto_comm_inst.hpp>

namespace {

/// Calls `action` with a reference to each element.
template <class View, class Action>
void each(const View& view, Action&& action) {
  int64_t position[5] = {};
  const int dims = view.ndims();
  auto* base = view.data();
  while (true) {
    int64_t offset = 0;
    for (int d = 0; d < dims; ++d) offset += position[d] * static_cast<int64_t>(view.stride(d));
    action(base[offset]);
    int d = dims - 1;
    while (d >= 0 && ++position[d] == static_cast<int64_t>(view.shape(d))) position[d--] = 0;
    if (d < 0) return;
  }
}

template <class View>
int64_t sum_of(const View& view) {
  int64_t sum = 0;
  each(view, [&](const int64_t& element) { sum += element; });
  return sum;
}

void let_others_run() { baton_core_current()->table->yield(baton_core_current()); }

}  // namespace

namespace baton::test {

BATON_KERNEL(twice, In<float> x, Out<float> y) {
  for (int64_t i = 0; i < y.size(); ++i) y.data()[i] = 2 * x.data()[i];
}

BATON_KERNEL(add_one, InOut<float> y) {
  for (int64_t i = 0; i < y.size(); ++i) y.data()[i] += 1;
}

BATON_KERNEL(mix, In<int64_t> a, In<int64_t> b, InOut<int64_t> y, int64_t k) {
  const int64_t sum = sum_of(a) + sum_of(b) + k;
  let_others_run();
  each(y, [&](int64_t& element) { element = element * 31 + sum; });
}

BATON_KERNEL(renew, In<int64_t> a, Out<int64_t> y, int64_t k) {
  const int64_t sum = sum_of(a) + k;
  let_others_run();
  each(y, [&](int64_t& element) { element = sum; });
}

BATON_KERNEL(append, InOut<int64_t> list, int64_t number) { list.data()[++list.data()[0]] = number; }

}  // namespace baton::test

// These ask for the block they are: the raw form has the arguments at hand.
extern "C" void runtime_test_number_blocks(int64_t* args) {
  auto* y = reinterpret_cast<ChipTensor*>(args[0]);
  const int32_t block = get_block_idx(args);
  reinterpret_cast<int32_t*>(y->buffer.addr)[block] = get_block_num(args) * 1000 + block;
}

extern "C" void runtime_test_meet(int64_t* args) {
  auto* y = reinterpret_cast<ChipTensor*>(args[0]);
  pto::comm::Signal signal(reinterpret_cast<int32_t*>(y->buffer.addr));
  pto::comm::TNOTIFY(signal, 1, pto::comm::NotifyOp::AtomicAdd);
  pto::comm::TWAIT(signal, get_block_num(args), pto::comm::WaitCmp::GE);
}

extern "C" void runtime_test_twice_later(int64_t* args) {
  auto* x = reinterpret_cast<ChipTensor*>(args[0]);
  auto* y = reinterpret_cast<ChipTensor*>(args[1]);
  auto* flag = reinterpret_cast<int32_t*>(args[2]);
  for (uint32_t i = 0; i < x->shapes[0]; ++i) {
    reinterpret_cast<float*>(y->buffer.addr)[i] = 2 * reinterpret_cast<float*>(x->buffer.addr)[i];
  }
  AsyncCtx context = get_async_ctx(args);
  save_expected_notification_counter(context, flag, 1);
}

extern "C" void runtime_test_await(int64_t* args) {
  pto::comm::Signal signal(reinterpret_cast<int32_t*>(args[1]));
  pto::comm::TWAIT(signal, static_cast<int32_t>(args[2]), pto::comm::WaitCmp::GE);
}

namespace baton::test {

BATON_KERNEL(refuse, InOut<float> y) {
  (void)y;
  static constexpr BatonPlace kPlace{"refuse", __FILE__, __LINE__, 0};
  const BatonFailure failure{BATON_KERNEL_INVALID_ARGUMENT, 0, &kPlace, "refused on purpose"};
  baton_core_current()->table->fail(baton_core_current(), &failure);
}

BATON_KERNEL(crash, InOut<float> y) {
  // Hidden from the compiler, which would warn.
  volatile uintptr_t nowhere = 8;
  *reinterpret_cast<int*>(nowhere) = static_cast<int>(y.size());
}

BATON_KERNEL(notify, InOut<int32_t> signal, int32_t value) {
  pto::comm::Signal one(signal.data());
  pto::comm::TNOTIFY(one, value, pto::comm::NotifyOp::AtomicAdd);
}

BATON_CUBE_KERNEL(cube_part, InOut<int32_t> y) {
  pto::comm::Signal mine(y.data());
  pto::comm::TNOTIFY(mine, 1, pto::comm::NotifyOp::AtomicAdd);
  pto::comm::Signal theirs(y.data() + 1);
  pto::comm::TWAIT(theirs, 2, pto::comm::WaitCmp::GE);
}

BATON_KERNEL(vector_part, InOut<int32_t> y) {
  pto::comm::Signal cube(y.data());
  pto::comm::TWAIT(cube, 1, pto::comm::WaitCmp::GE);
  pto::comm::Signal mine(y.data() + 1);
  pto::comm::TNOTIFY(mine, 1, pto::comm::NotifyOp::AtomicAdd);
}

}  // namespace baton::test
