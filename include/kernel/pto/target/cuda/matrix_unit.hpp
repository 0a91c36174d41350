// TMATMUL of tiles that are views, and TSTORE of sums: what the director tells the lanes to multiply and to store.
// Functions that return false have done nothing: the instruction goes its usual way, after settle_matrices().
#pragma once

#include <pto/target/cuda/matrix_views.hpp>

namespace baton::cuda {

/// A product of two tiles that may be views.
struct WantedProduct {
  uint32_t accumulator;
  uint32_t accumulator_rows;
  uint32_t left;
  uint32_t left_extents;  // as in OperandView, and all below
  uint32_t left_counts;
  uint32_t right;
  uint32_t right_extents;
  uint32_t right_counts;

  __device__ __forceinline__ uint32_t rows() const { return left_counts & 0xffff; }
  __device__ __forceinline__ uint32_t cols() const { return right_counts & 0xffff; }
  __device__ __forceinline__ uint32_t depth() const { return left_counts >> 16; }
};

PTO_INLINE __device__ Sums session_for(uint32_t rows, uint32_t cols) {
  return cols > 128 ? Sums::rows128_cols256 : rows > 128 ? Sums::rows256_cols128 : Sums::rows128_cols128;
}

/// Tells the lanes, who are in its session. `number`: of the command.
template <bool is_bfloat16, Begins begins>
PTO_INLINE __device__ void post_views(const WantedProduct& wanted, const OperandView& left, const OperandView& right,
                                      uint32_t number) {
  MatrixUnit& unit = control().matrix;
  const uint32_t steps = (wanted.depth() + kernel::kProductDepth - 1) / kernel::kProductDepth;
  const bool are_alike = left.link.first_steps == right.link.first_steps && left.link.first_steps < steps;
  MatrixCommand& command = command_at(number);
  command.work = multiply_work(is_bfloat16, right.link.across != 0);
  command.rows = wanted.rows();
  command.steps = steps;
  command.onto = begins == Begins::at_zero ? 0 : 1;
  command.left = left.operand;
  command.right = right.operand;
  command.left_load = left.link.load;
  command.right_load = right.link.load;
  command.first_steps = are_alike ? left.link.first_steps : 0;
  post_command_at(number);
  KeptTile::State& left_state = unit.tiles[left.link.tile].state;
  KeptTile::State& right_state = unit.tiles[right.link.tile].state;
  left_state.reader = right_state.reader = number + 1;
  left_state.is_read = right_state.is_read = kHasReader;
}

/// Whatever came before it.
template <bool is_bfloat16, Begins begins>
PTO_OUTLINED __device__ bool begin_products_of(WantedProduct wanted) {
  MatrixUnit& unit = control().matrix;
  const uint32_t left_number = view_at<0>(wanted.left);
  const uint32_t right_number = view_at<1>(wanted.right);
  if (left_number == kViews || right_number == kViews) return false;
  const OperandView left = unit.views[0].of[left_number];
  const OperandView right = unit.views[1].of[right_number];
  const uint32_t rows = wanted.rows();
  const uint32_t cols = wanted.cols();
  const uint32_t depth = wanted.depth();
  const bool fits = left.part.extents == wanted.left_extents && rows <= left.part.count() &&
                    depth <= left.part.depth() && right.part.extents == wanted.right_extents &&
                    cols <= right.part.count() && depth <= right.part.depth() && rows <= 256 && cols <= 256 &&
                    (rows <= 128 || cols <= 128);
  if (!fits) return false;
  if (depth % kernel::kProductDepth != 0 && (depth != left.part.depth() || depth != right.part.depth() ||
                                             left.link.ends_in_zero == 0 || right.link.ends_in_zero == 0)) {
    return false;
  }
  const Sums session = session_for(rows, cols);
  const Accumulated sums = unit.sums;
  const bool is_accumulator = sums.at == wanted.accumulator && sums.extent == wanted.accumulator_rows;
  if (sums.session != session || !is_accumulator || sums.rows != rows || sums.cols != cols) {
    if (sums.session != Sums::none) {
      const bool replaces = begins == Begins::at_zero && is_accumulator && rows >= sums.rows && cols >= sums.cols;
      end_session(replaces ? Registers::forgotten : Registers::to_memory);
    }
    unit.sums = {wanted.accumulator,
                 static_cast<uint16_t>(wanted.accumulator_rows),
                 static_cast<uint16_t>(rows),
                 static_cast<uint16_t>(cols),
                 0,
                 Sums::none};
    begin_session(session, begins);
    if (begins == Begins::at_accumulator) post_accumulator(MatrixWork::fill);
  }
  post_views<is_bfloat16, begins>(wanted, left, right, unit.posted);
  return true;
}

/// The same, fast where it is like the one before it.
template <bool is_bfloat16, Begins begins>
PTO_INLINE __device__ bool post_product(const WantedProduct& wanted) {
  const MatrixUnit& unit = control().matrix;
  const uint32_t number = read_at_once(unit.posted);
  const OperandView left = read_at_once(unit.views[0].of[home_of_view(wanted.left)]);
  const OperandView right = read_at_once(unit.views[1].of[home_of_view(wanted.right)]);
  const Accumulated sums = read_at_once(unit.sums);
  // All of it is read at once, and judged together.
  const uint32_t other =
      (left.link.at ^ wanted.left) | (right.link.at ^ wanted.right) | (left.part.extents ^ wanted.left_extents) |
      (right.part.extents ^ wanted.right_extents) | (left.part.counts ^ wanted.left_counts) |
      (right.part.counts ^ wanted.right_counts) | (sums.at ^ wanted.accumulator) |
      (sums.extent ^ wanted.accumulator_rows) | (sums.rows ^ wanted.rows()) | (sums.cols ^ wanted.cols()) |
      (static_cast<uint32_t>(sums.session) ^ static_cast<uint32_t>(session_for(wanted.rows(), wanted.cols()))) |
      wanted.depth() % kernel::kProductDepth;
  if (other != 0) [[unlikely]]
    return begin_products_of<is_bfloat16, begins>(wanted);
  post_views<is_bfloat16, begins>(wanted, left, right, number);
  return right.operand.high != 0;  // true
}

/// Whether the sums that are in registers have these elements of an accumulator.
__device__ inline bool has_sums(uint32_t accumulator, uint32_t accumulator_rows, uint32_t rows, uint32_t cols) {
  const MatrixUnit& unit = control().matrix;
  return unit.sums.session != Sums::none && unit.sums.at == accumulator && unit.sums.extent == accumulator_rows &&
         rows <= unit.sums.rows && cols <= unit.sums.cols;
}

/// Under way when it returns: finish_stores() waits for it.
__device__ inline void store_sums(unsigned char* memory, int64_t pitch, uint32_t rows, uint32_t cols, MatrixWork work) {
  Control& mine = control();
  MatrixUnit& unit = mine.matrix;
  BulkCopies& copies = mine.copies;
  const int64_t bytes = work == MatrixWork::store_float ? 4 : 2;
  const Span span = span_of(memory, pitch * bytes, rows, cols * bytes);
  // Stores of sums keep their order; hardware's do not wait for them.
  if (copies.stores_begun != unit.stores_before) finish_stores();
  unit.stores_before = copies.stores_begun;
  // Products wait for what they read, but not for other loads, which may come from there.
  for (const MapKey& map : unit.maps) {
    if (map.form != 0 && span.begin < map.base + map.bytes && map.base < span.end) drain_kept_loads();
  }
  MatrixCommand& command = next_command();
  command.work = work;
  command.rows = rows;
  command.cols = cols;
  command.memory = reinterpret_cast<uint64_t>(memory);
  command.pitch = pitch;
  unit.stored = post_command();
  unit.is_storing = 1;
  add_stored(copies, span);
  mine.left.copies = 1;
}

}  // namespace baton::cuda
