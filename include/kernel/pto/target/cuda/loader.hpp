// The loader of a core that uses the matrix unit: a thread that carries out the director's orders to load tiles of Mat.
// Each waits until what was in its place has been read, portion by portion, and first portions do not wait for second
// ones of the orders before them.
#pragma once

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

__device__ inline void loader_life() {
  MatrixUnit& unit = control().matrix;
  const unsigned char* const maps = maps_of_core();
  // Orders of which the portions were started.
  uint32_t begun = 0;
  uint32_t issued = 0;
  const auto may_load = [&](const LoadOrder& order, uint32_t portion) {
    return (order.way.flags & kHasReader) == 0 || has_been_read(portion, order.reader);
  };
  while (true) {
    uint64_t* const ordered_at = &unit.ordered_at[begun % kOrders];
    const uint32_t parity = begun / kOrders % 2;
    const bool is_idle = begun == issued;
    if (is_idle) barrier_wait(ordered_at, parity);
    // Acquires the order that the director released. As many as there is room for have begun: the next one is not
    // there.
    if (is_idle || (begun - issued < kOrders && barrier_has_ended(ordered_at, parity))) {
      const LoadOrder order = unit.orders[begun % kOrders];
      if ((order.way.flags & kLoaderLeaves) != 0) return;
      if (may_load(order, 0)) {
        if ((order.way.flags & kHasNewMap) != 0) acquire_map(maps + order.way.map * kMapBytes);
        load_portion(order, maps, 0);
        ++begun;
      }
    }
    if (begun == issued) continue;
    const LoadOrder order = unit.orders[issued % kOrders];
    if (!may_load(order, 1)) continue;
    load_portion(order, maps, 1);
    // Releases the place of the order to post_order().
    barrier_arrive(&unit.issued[issued % kOrders]);
    ++issued;
  }
}

}  // namespace baton::cuda
