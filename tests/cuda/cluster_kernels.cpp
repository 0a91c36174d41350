// Kernels of tasks of whole clusters. The source is compiled for both kinds of cores; names differ, as those of all
// kernels of a GPU do.
#include <baton_kernel.hpp>

#include "../unit/runtime/pipe_kernels.hpp"

using namespace pipe_kernels;
using Down = TPipe<1, Direction::DIR_C2V, kChunkBytes, 2, 2, true>;

namespace {

/// In args[0] as an int32 tensor: its block and its core, where that belongs. Then all meet, in args[1].
AICORE void mark(int64_t* args, int core) {
  auto* marks = reinterpret_cast<int32_t*>(floats(args[0]));
  auto* arrived = reinterpret_cast<int32_t*>(floats(args[1]));
  const int block = get_block_idx(args);
  marks[3 * block + core] = 1000 * get_block_num(args) + 10 * block + core;
  comm::Signal signal(arrived + block);
  comm::TNOTIFY(signal, 1, comm::NotifyOp::AtomicAdd);
  comm::TWAIT(signal, static_cast<int32_t>(args[2]), comm::WaitCmp::GE);
}

}  // namespace

#if defined(__DAV_CUBE__)
extern "C" __aicore__ void cube_marks(int64_t* args) { mark(args, 0); }
BATON_KERNEL_ENTRY(cube_marks);

// x, unit matrix, ring, out; count: chunks go from the cube core to the first vector core, which stores them.
extern "C" __aicore__ void push_chunks(int64_t* args) {
  Product product(floats(args[1]));
  Down pipe(floats(args[2]), 0x8000, 0x0);
  for (int64_t n = 0; n < args[4]; ++n) {
    product.load(floats(args[0]) + n * 16 * 64);
    TPUSH<Down, Acc, kWhole>(pipe, product.acc);
  }
}
BATON_KERNEL_ENTRY(push_chunks);
#else
extern "C" __aicore__ void vector_marks(int64_t* args) { mark(args, 1 + get_sub_block_id(args)); }
BATON_KERNEL_ENTRY(vector_marks);

extern "C" __aicore__ void pop_chunks(int64_t* args) {
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
BATON_KERNEL_ENTRY(pop_chunks);

// Pops one chunk less than there are, and returns.
extern "C" __aicore__ void pop_too_few(int64_t* args) {
  const int64_t all = args[4];
  args[4] = 1;
  pop_chunks(args);
  args[4] = all;
}
BATON_KERNEL_ENTRY(pop_too_few);
#endif
