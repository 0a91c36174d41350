// The loaders of a core that uses the matrix unit: threads that carry out the director's orders to load tiles of Mat.
#pragma once

#include <pto/target/cuda/loading.hpp>
#include <pto/target/cuda/matrix_state.hpp>
#include <pto/target/cuda/tensor_map.hpp>
#include <pto/target/operand_form.hpp>

namespace baton::cuda {

/// As loading.hpp wants it: one of the threads of a warp, which load different boxes, and each look at what one of the
/// warps that multiply has read.
class Loader {
 public:
  /// What would be a constant is in registers. The compiler makes many by an instruction (HFMA2.MMA) that waits for
  /// hundreds of cycles while tensor cores work.
  __device__ explicit Loader(uint32_t thread)
      : thread_(thread),
        nought_(blockIdx.y),
        read_(shared_address(baton_shared_memory) +
              static_cast<uint32_t>(offsetof(Control, matrix) + offsetof(MatrixUnit, read)) +
              thread % kMatrixWarps * uint32_t{sizeof(uint32_t)}) {
    asm volatile("" : "+r"(read_));
  }

  /// Whether it is a load.
  __device__ bool await_order(uint32_t number) {
    const MatrixUnit& unit = control().matrix;
    const uint32_t place = OrderRing::place(number);
    // Acquires the order that the director released, and the plan of its tile.
    barrier_wait(const_cast<uint64_t*>(&unit.ordered_at[place]), OrderRing::parity(number));
    order_ = unit.orders[place];
    if ((order_.flags & kLoaderLeaves) != 0) return false;
    plan_ = plan_of_tile(order_.tile);
    if ((order_.flags & kHasNewMap) != 0) acquire_map(plan_.map);
    return true;
  }
  /// All warps have carried out the commands before the reader, as far as they read this portion.
  __device__ void await_read(uint32_t portion) const {
    if ((order_.flags & kHasReader) == 0) return;
    const uint32_t at = read_ + portion * uint32_t{sizeof control().matrix.read[0]};
    uint32_t read;
    do {
      asm volatile("ld.volatile.shared::cta.u32 %0, [%1];" : "=r"(read) : "r"(at));
    } while (!__all_sync(~0u, static_cast<int32_t>(read - order_.reader) >= 0));
    // Acquires what the warps released in tell_read(); each thread has looked for one of them.
    asm volatile("fence.acq_rel.cta;" ::: "memory");
    __syncwarp();
  }
  __device__ void load(uint32_t portion) const {
    uint64_t* const barrier = &control().matrix.loaded[order_.tile][portion];
    if (portion >= plan_.portions) {
      if (thread_ == 0) barrier_arrive(barrier);
      return;
    }
    // Boxes that are there sooner count, too.
    if (thread_ == 0) barrier_expect(barrier, plan_.bytes);
    const uint32_t to = plan_.to + portion * plan_.portion_to;
    const uint32_t element = order_.element + portion * plan_.portion_element;
    const uint32_t first_line = nought_ + portion * plan_.portion_line;
#pragma unroll 1
    for (uint32_t i = thread_; i < plan_.across; i += kWarp) {
      uint32_t box = to + i * plan_.across_to;
      uint32_t line = first_line;
#pragma unroll 1
      for (uint32_t j = plan_.down; j != 0; --j, box += plan_.down_to, line += plan_.down_lines) {
        load_box(box, plan_.map, element + i * plan_.across_elements, line, barrier);
      }
    }
  }
  /// Releases the place of the order to post_order().
  __device__ void end_order(uint32_t number) const {
    __syncwarp();
    if (thread_ == 0) barrier_arrive(&control().matrix.issued[OrderRing::place(number)]);
  }

 private:
  uint32_t thread_;
  uint32_t nought_;
  uint32_t read_;  // where its warp says what it has read
  LoadOrder order_;
  LoadPlan plan_;
};

/// `number`: of the loader. `thread`: of its threads.
__device__ inline void loader_life(uint32_t number, uint32_t thread) {
  Loader loader(thread);
  load_in_portions<kLoaders>(loader, number);
}

}  // namespace baton::cuda
