// Kernels that run on simulated cores and, on platforms a2a3 and a5, on the stand-in of a chip.
#include <baton_kernel.hpp>

#if !defined(__DAV_CUBE__)
#include "../support/add_kernel.hpp"

/// Each block writes its number.
BATON_KERNEL(number_blocks, Out<int32_t> out) {
  out.data()[get_block_idx(args)] = get_block_idx(args) * 1000 + get_block_num(args);
}

/// Blocks that wait for each other: all must be there.
BATON_KERNEL(meet, InOut<int32_t> arrived) {
  pto::comm::Signal signal(arrived.data());
  pto::comm::TNOTIFY(signal, 1, pto::comm::NotifyOp::AtomicAdd);
  pto::comm::TWAIT(signal, get_block_num(args), pto::comm::WaitCmp::GE);
}

/// Loads from no memory at all.
BATON_KERNEL(stray, InOut<int32_t> any) { *any.data() = *reinterpret_cast<const volatile int32_t*>(8); }

/// Does not end by itself.
BATON_KERNEL(endless, InOut<int32_t> word) {
  while (*static_cast<volatile int32_t*>(word.data()) == 0) {
  }
}
#endif

/// cell = cell * 10 + digit, of 64 bits: the order of tasks shows in the result. Raw.
extern "C" __aicore__ void append(__gm__ int64_t* args) {
  const auto* tensor = reinterpret_cast<__gm__ const Tensor*>(args[0]);
  auto* cell = reinterpret_cast<__gm__ int64_t*>(tensor->buffer.addr) + tensor->start_offset;
  *cell = *cell * 10 + args[1];
}
BATON_KERNEL_ENTRY(append);
