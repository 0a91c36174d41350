// Kernels of tasks of whole clusters, for both kinds of cores, of which the source is compiled for each.
#include <baton_kernel.hpp>

#include "../unit/runtime/pipe_kernels.hpp"

using namespace pipe_kernels;
using Down = TPipe<1, Direction::DIR_C2V, kChunkBytes, 2, 2, true>;

/// In args[0] as an int32 tensor: its block and its core, where that belongs. Then all three meet, in args[1].
extern "C" __aicore__ void mark_and_meet(__gm__ int64_t* args) {
#if defined(__DAV_CUBE__)
  const int core = 0;
#else
  const int core = 1 + get_sub_block_id(args);
#endif
  auto* marks = reinterpret_cast<int32_t*>(reinterpret_cast<::Tensor*>(args[0])->buffer.addr);
  auto* arrived = reinterpret_cast<int32_t*>(reinterpret_cast<::Tensor*>(args[1])->buffer.addr);
  const int block = get_block_idx(args);
  marks[3 * block + core] = 1000 * get_block_num(args) + 10 * block + core;
  comm::Signal signal(arrived + block);
  comm::TNOTIFY(signal, 1, comm::NotifyOp::AtomicAdd);
  comm::TWAIT(signal, static_cast<int32_t>(args[2]), comm::WaitCmp::GE);
}

// x, unit matrix, ring, out; count: chunks go from the cube core to the first vector core, which stores them.
extern "C" __aicore__ void push_chunks(__gm__ int64_t* args) {
  Product product(floats(args[1]));
  Down pipe(floats(args[2]), 0x8000, 0x0);
  for (int64_t n = 0; n < args[4]; ++n) {
    product.load(floats(args[0]) + n * 16 * 64);
    TPUSH<Down, Acc, kWhole>(pipe, product.acc);
  }
}
extern "C" __aicore__ void pop_chunks(__gm__ int64_t* args) {
  const bool first = get_sub_block_id(args) == 0;
  Down pipe(floats(args[2]), 0x8000, 0x0);
  for (int64_t n = 0; n < args[4]; ++n) {
    VecOpen tile(first ? 16 : 0, first ? 64 : 0);
    TPOP<Down, VecOpen, kWhole>(pipe, tile);
    Chunk out(floats(args[3]) + n * 16 * 64);
    pipe_barrier(PIPE_ALL);
    if (first) TSTORE(out, tile);
    pipe_barrier(PIPE_ALL);
  }
}
