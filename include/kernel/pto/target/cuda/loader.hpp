// The loader of a core that uses the matrix unit: a thread that carries out the director's orders to load tiles of Mat.
#pragma once

#include <pto/target/cuda/loading.hpp>
#include <pto/target/cuda/matrix_state.hpp>
#include <pto/target/cuda/tensor_map.hpp>
#include <pto/target/operand_form.hpp>

namespace baton::cuda {

/// Whether all warps have carried out the commands before `reader`, as far as they read this portion.
__device__ inline bool has_been_read(uint32_t portion, uint32_t reader) {
  const MatrixUnit& unit = control().matrix;
  bool by_all = true;
  for (uint32_t warp = 0; warp < kMatrixWarps; ++warp) {
    const uint32_t read = *const_cast<const volatile uint32_t*>(&unit.read[portion][warp]);
    by_all = by_all && static_cast<int32_t>(read - reader) >= 0;
  }
  // Acquires what the warps released in tell_read().
  if (by_all) asm volatile("fence.acq_rel.cta;" ::: "memory");
  return by_all;
}

/// Starts a portion of a load.
__device__ inline void load_portion(const LoadOrder& order, const unsigned char* maps, uint32_t portion) {
  const LoadWay way = order.way;
  uint64_t* const barrier = &control().matrix.loaded[way.tile][portion];
  if (way.split == Split::none && portion != 0) return barrier_arrive(barrier);
  const uint32_t lines = order.size & 0xffff;
  const uint32_t length = order.size >> 16;
  const uint32_t width = kernel::chunk_width(length);
  const uint32_t lines_here = way.split == Split::lines ? lines / kPortions : lines;
  const uint32_t length_here = way.split == Split::lengths ? length / kPortions : length;
  const uint32_t first_line = way.split == Split::lines ? portion * lines_here : 0;
  const uint32_t first = way.split == Split::lengths ? portion * length_here : 0;
  const uint32_t box_lines = box_lines_of(lines_here);
  const unsigned char* const map = maps + way.map * kMapBytes;
  barrier_expect(barrier, lines_here * length_here * 2);
  for (uint32_t at = first; at < first + length_here; at += width) {
    for (uint32_t line = first_line; line < first_line + lines_here; line += box_lines) {
      load_box(order.to + (at * lines + line * width) * 2, map, order.element + at, line, barrier);
    }
  }
}

/// As loading.hpp wants it.
struct LoaderWords {
  const unsigned char* maps;

  __device__ const LoadOrder& order(uint32_t number) const { return control().matrix.orders[OrderRing::place(number)]; }
  // Both acquire the order that the director released.
  __device__ void await_order(uint32_t number) const {
    barrier_wait(&control().matrix.ordered_at[OrderRing::place(number)], OrderRing::parity(number));
  }
  __device__ bool has_order(uint32_t number) const {
    return barrier_has_ended(&control().matrix.ordered_at[OrderRing::place(number)], OrderRing::parity(number));
  }
  __device__ bool is_last(uint32_t number) const { return (order(number).way.flags & kLoaderLeaves) != 0; }
  __device__ bool may_load(uint32_t number, uint32_t portion) const {
    const LoadOrder& wanted = order(number);
    return (wanted.way.flags & kHasReader) == 0 || has_been_read(portion, wanted.reader);
  }
  __device__ void load(uint32_t number, uint32_t portion) const {
    const LoadOrder wanted = order(number);
    if (portion == 0 && (wanted.way.flags & kHasNewMap) != 0) acquire_map(maps + wanted.way.map * kMapBytes);
    load_portion(wanted, maps, portion);
  }
  /// Releases the place of the order to post_order().
  __device__ void end_order(uint32_t number) const {
    barrier_arrive(&control().matrix.issued[OrderRing::place(number)]);
  }
  __device__ void rest() const {}
};

__device__ inline void loader_life() {
  const LoaderWords words{maps_of_core()};
  load_in_portions<kOrders>(words);
}

}  // namespace baton::cuda
