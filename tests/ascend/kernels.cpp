// Kernels that run on simulated cores and, on platforms a2a3 and a5, on the stand-in of a chip.
#include <baton_kernel.hpp>

namespace {

constexpr int kTile = 1024;
using Line = pto::Tile<pto::TileType::Vec, float, 1, kTile, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;

}  // namespace

#if !defined(__DAV_CUBE__)
BATON_KERNEL(add, In<float> a, In<float> b, Out<float> out) {
  const auto count = static_cast<unsigned>(out.size());
  Line x(count);
  Line y(count);
  TASSIGN(x, 0);
  TASSIGN(y, kTile * sizeof(float));
  auto a_line = a.line();
  auto b_line = b.line();
  auto out_line = out.line();
  TLOAD(x, a_line);
  TLOAD(y, b_line);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(x, x, y);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(out_line, x);
}

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
