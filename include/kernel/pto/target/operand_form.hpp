// The form in which a GPU's matrix unit reads 16-bit tiles from shared memory, beside the boxes of the instruction set.
//
// A tile has lines (rows, or columns of tiles whose boxes are stored by columns). Boxes hold 16 lines of 16 elements; a
// chunk of the form holds all lines of `width` elements, a line of up to 128 bytes behind the other, with pieces of 16
// bytes exchanged so that eight lines meet all banks. Both take the same bytes.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>
#include <pto/target/compiler.hpp>

namespace baton::kernel {

/// Elements that follow each other in a line of a box, and lines of it.
inline constexpr uint32_t kBoxSide = 16;
/// The matrix unit takes this many steps of the common dimension at a time.
inline constexpr uint32_t kProductDepth = 16;

/// The widest chunks that divide a line of `length` elements, a multiple of 16: 16, 32 or 64 elements.
constexpr AICORE uint32_t chunk_width(uint32_t length) { return length % 64 == 0 ? 64 : length % 32 == 0 ? 32 : 16; }

struct OperandForm {
  uint32_t lines;
  uint32_t width;

  constexpr PTO_INLINE AICORE uint32_t line_bytes() const { return width * 2; }
  constexpr PTO_INLINE AICORE uint32_t chunk_bytes() const { return lines * line_bytes(); }

  /// Bytes from the beginning of a tile to an element, if the tile begins at a multiple of 1,024.
  constexpr PTO_INLINE AICORE uint32_t offset(uint32_t line, uint32_t at) const {
    const uint32_t plain = at / width * chunk_bytes() + line * line_bytes() + at % width * 2;
    return plain ^ ((plain >> 7 & (line_bytes() / 16 - 1)) << 4);
  }

  /// The same where the tile lies in boxes, band after band of 16 elements of each line.
  constexpr PTO_INLINE AICORE uint32_t offset_in_boxes(uint32_t line, uint32_t at) const {
    return (at / kBoxSide * lines * kBoxSide + line * kBoxSide + at % kBoxSide) * 2;
  }
};

/// What the matrix unit is told of an operand beside its address, as the high half of a descriptor.
constexpr AICORE uint32_t descriptor_high(OperandForm form) {
  const uint32_t mode = form.width == 64 ? 1 : form.width == 32 ? 2 : 3;
  return 8 * form.line_bytes() / 16 | mode << 30;
}

/// A part of a tile as an operand: which of its lines and elements, and whether lines are steps of the common dimension
/// (`across`) or hold them. All in bytes.
struct OperandPart {
  uint32_t start;      // where its first line begins, without the steps of `first`
  uint32_t chunk;      // from a step to the next one in another chunk; across lines: to the next step
  uint32_t leading;    // for the descriptor: across lines from one chunk to the next
  uint32_t block;      // from 64 rows of left to the next ones
  uint32_t first;      // steps of 16 in the first chunk that come before it
  uint32_t per_chunk;  // steps in a chunk: 1, 2 or 4
};

/// Holding lines: `line` is a multiple of 8, `at` of 16. Across: `line` of 8, `at` of the width.
constexpr PTO_INLINE AICORE OperandPart part_of_operand(OperandForm form, bool across, uint32_t line, uint32_t at) {
  const uint32_t lines_at = line * form.line_bytes();
  if (across) {
    return {at / form.width * form.chunk_bytes() + lines_at,
            kProductDepth * form.line_bytes(),
            form.chunk_bytes(),
            64 / form.width * form.chunk_bytes(),
            0,
            1};
  }
  return {lines_at, form.chunk_bytes(), 16, 64 * form.line_bytes(), at / kProductDepth, form.width / kProductDepth};
}

}  // namespace baton::kernel
