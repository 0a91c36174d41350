// Tiles that are kept in shared memory for the matrix unit, and how all of them become what they are on a chip: bytes
// of their buffers.
#pragma once

#include <pto/target/cuda/core.hpp>
#include <pto/target/cuda/kept_loads.hpp>
#include <pto/target/cuda/matrix_commands.hpp>
#include <pto/target/lanes.hpp>
#include <pto/target/matrix_unit.hpp>
#include <pto/target/operand_form.hpp>

namespace baton::cuda {

__device__ inline void forget_matrices() {
  MatrixUnit& unit = control().matrix;
  if (unit.sums.session != Sums::none) end_session(Registers::forgotten);
  if (unit.kept == 0) return;
  drain_kept_loads();
  unit.kept = 0;
  for (KeptTile& tile : unit.tiles) tile.key.begin = kNowhere;
  for (Views& views : unit.views) {
    for (uint32_t i = 0; i < kViews; ++i) {
      views.tiles[i] = 0;
      views.of[i].link.at = kNowhere;
    }
  }
}

/// Before a task of this core.
__device__ inline void prepare_matrices(const Run& run, bool is_cube) {
  Control& mine = control();
  mine.matrix.window_bytes = is_cube ? run.window_bytes - kPlansBytes : 0;
  // What wants Vec all the same asks for it: settle_for_vec().
  mine.core.buffers[0].capacity = is_cube ? 0 : run.buffer_bytes[0];
}

/// A tile, or a part of it, from the form of operands to boxes.
__device__ inline void copy_to_boxes(unsigned char* to, uint32_t to_lines, const KeptTile& tile, bool across,
                                     uint32_t line0, uint32_t element0, uint32_t count, uint32_t depth) {
  const kernel::OperandForm form{tile.key.lines(), kernel::chunk_width(tile.key.length())};
  const kernel::OperandForm boxes{to_lines, 0};
  const unsigned char* const from = window() + tile.key.begin;
  kernel::on_lanes([=](kernel::Lanes lanes) {
    kernel::for_cells(lanes, count, depth, [=](uint32_t i, uint32_t k) {
      const uint32_t line = line0 + (across ? k : i);
      const uint32_t element = element0 + (across ? i : k);
      *reinterpret_cast<uint16_t*>(to + boxes.offset_in_boxes(i, k)) =
          *reinterpret_cast<const uint16_t*>(from + form.offset(line, element));
    });
  });
}

PTO_OUTLINED __device__ inline void settle_all() {
  Control& mine = control();
  MatrixUnit& unit = mine.matrix;
  if (unit.sums.session != Sums::none) end_session(Registers::to_memory);
  if (unit.kept == 0) return;
  drain_kept_loads();
  for (uint32_t side = 0; side < 2; ++side) {
    for (const OperandView& view : unit.views[side].of) {
      if (view.link.at == kNowhere) continue;
      const OperandView::Part& part = view.part;
      copy_to_boxes(mine.core.buffers[kLeftTiles + side].base + view.link.at, part.extent(), unit.tiles[view.link.tile],
                    view.link.across != 0, part.line(), part.element(), part.count(), part.depth());
    }
  }
  for (const KeptTile& tile : unit.tiles) {
    if (tile.key.begin == kNowhere) continue;
    copy_to_boxes(mine.core.buffers[kMatrices].base + tile.key.begin, tile.key.lines(), tile, false, 0, 0,
                  tile.key.lines(), tile.key.length());
  }
  forget_matrices();
}

}  // namespace baton::cuda

namespace baton::kernel {

__device__ inline void settle_matrices() {
  const cuda::MatrixUnit& unit = cuda::control().matrix;
  if (unit.sums.session != cuda::Sums::none || unit.kept != 0) cuda::settle_all();
}

__device__ inline void settle_for_vec() {
  cuda::Control& mine = cuda::control();
  if (mine.matrix.window_bytes == 0) return;
  settle_matrices();
  mine.matrix.window_bytes = 0;
  mine.core.buffers[0].capacity = mine.run->buffer_bytes[0];
}

}  // namespace baton::kernel
