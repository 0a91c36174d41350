// The loaders of a core that uses the matrix unit: threads that carry out the director's orders to load tiles of Mat.
#pragma once

#include <pto/target/cuda/loading.hpp>
#include <pto/target/cuda/matrix_state.hpp>
#include <pto/target/cuda/tensor_map.hpp>
#include <pto/target/operand_form.hpp>

namespace baton::cuda {

/// Whether all warps have carried out the commands before `reader`, as far as they read this portion.
__device__ inline bool has_been_read(uint32_t portion, uint32_t reader) {
  const uint32_t at = shared_address(control().matrix.read[portion]);
  bool by_all = true;
  for (uint32_t first = 0; first < kMatrixWarps; first += 4) {
    uint4 read;
    asm volatile("ld.volatile.shared::cta.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(read.x), "=r"(read.y), "=r"(read.z), "=r"(read.w)
                 : "r"(at + first * uint32_t{sizeof(uint32_t)}));
    const uint32_t missing = (read.x - reader) | (read.y - reader) | (read.z - reader) | (read.w - reader);
    by_all = by_all & (static_cast<int32_t>(missing) >= 0);
  }
  // Acquires what the warps released in tell_read().
  if (by_all) asm volatile("fence.acq_rel.cta;" ::: "memory");
  return by_all;
}

/// As loading.hpp wants it.
class Loader {
 public:
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
  __device__ void await_read(uint32_t portion) const {
    if ((order_.flags & kHasReader) == 0) return;
    while (!has_been_read(portion, order_.reader)) {
    }
  }
  __device__ void load(uint32_t portion) const {
    uint64_t* const barrier = &control().matrix.loaded[order_.tile][portion];
    if (portion >= plan_.portions) return barrier_arrive(barrier);
    barrier_expect(barrier, plan_.bytes);
    uint32_t to = plan_.to + portion * plan_.portion_to;
    uint32_t element = order_.element + portion * plan_.portion_element;
    const uint32_t line = portion * plan_.portion_line;
#pragma unroll 1
    for (uint32_t i = plan_.across; i != 0; --i, to += plan_.across_to, element += plan_.across_elements) {
      load_box(to, plan_.map, element, line, barrier);
#pragma unroll 1
      for (uint32_t j = 1; j < plan_.down; ++j) {
        load_box(to + j * plan_.down_to, plan_.map, element, line + j * plan_.down_lines, barrier);
      }
    }
  }
  /// Releases the place of the order to post_order().
  __device__ void end_order(uint32_t number) const {
    barrier_arrive(&control().matrix.issued[OrderRing::place(number)]);
  }

 private:
  LoadOrder order_;
  LoadPlan plan_;
};

__device__ inline void loader_life(uint32_t number) {
  Loader loader;
  load_in_portions<kLoaders>(loader, number);
}

}  // namespace baton::cuda
