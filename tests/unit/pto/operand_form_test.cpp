// The form in which a GPU's matrix unit reads tiles, beside the unit's own description of it.
#include <set>

#include <gtest/gtest.h>
#include <pto/target/operand_form.hpp>

namespace {

using baton::kernel::OperandForm;
using baton::kernel::OperandPart;

constexpr OperandForm kForms[] = {{16, 16}, {48, 16}, {64, 32}, {256, 32}, {64, 64}, {128, 64}, {32, 64}};
constexpr std::uint32_t kChunks = 3;

/// The unit exchanges bits 4 to 6 of an address with those from bit 7 on: one, two or three of them, as lines have 32,
/// 64 or 128 bytes.
std::uint32_t exchanged(std::uint32_t address, std::uint32_t line_bytes) {
  for (std::uint32_t bit = 0; line_bytes >> (5 + bit) != 0; ++bit) {
    if ((address >> (7 + bit) & 1) != 0) address ^= 16U << bit;
  }
  return address;
}

TEST(OperandForm, HasAPlaceForEachElementAndTakesAsManyBytesAsBoxes) {
  for (const OperandForm& form : kForms) {
    std::set<std::uint32_t> places;
    std::set<std::uint32_t> in_boxes;
    for (std::uint32_t line = 0; line < form.lines; ++line) {
      for (std::uint32_t at = 0; at < kChunks * form.width; ++at) {
        places.insert(form.offset(line, at));
        in_boxes.insert(form.offset_in_boxes(line, at));
      }
    }
    EXPECT_EQ(places.size(), form.lines * kChunks * form.width);
    EXPECT_EQ(*places.rbegin(), form.lines * kChunks * form.width * 2 - 2);
    EXPECT_EQ(places, in_boxes);
  }
}

TEST(OperandForm, EightLinesOfAPieceMeetAllBanks) {
  for (const OperandForm& form : kForms) {
    std::set<std::uint32_t> banks;
    for (std::uint32_t line = 0; line < 8; ++line) banks.insert(form.offset(line, 8) % 128 / 16);
    EXPECT_EQ(banks.size(), 8U) << form.width;
  }
}

/// Rows of left, or columns of a right that lies by columns: element k of row r is where the unit looks for it.
TEST(OperandForm, LinesThatHoldStepsAreReadWhereTheyLie) {
  for (const OperandForm& form : kForms) {
    for (std::uint32_t line = 0; line < form.lines; line += 8) {
      for (std::uint32_t at = 0; at < kChunks * form.width; at += 16) {
        const OperandPart part = part_of_operand(form, false, line, at);
        const std::uint32_t group = 8 * form.line_bytes();  // the distance in its descriptor
        EXPECT_EQ(descriptor_high(form) & 0x3fff, group / 16);
        for (std::uint32_t step = 0; at + step * 16 < kChunks * form.width; ++step) {
          const std::uint32_t number = part.first + step;
          const std::uint32_t first = part.start + number / part.per_chunk * part.chunk + number % part.per_chunk * 32;
          for (std::uint32_t row = 0; line + row < form.lines; ++row) {
            for (std::uint32_t k = 0; k < 16; ++k) {
              const std::uint32_t address = first + row / 8 * group + row % 8 * form.line_bytes() + k * 2;
              ASSERT_EQ(exchanged(address, form.line_bytes()), form.offset(line + row, at + step * 16 + k));
            }
          }
        }
      }
    }
  }
}

/// A right that lies by rows: each line is a step, and columns go on in the next chunk.
TEST(OperandForm, LinesThatAreStepsAreReadWhereTheyLie) {
  for (const OperandForm& form : kForms) {
    for (std::uint32_t line = 0; line + 16 <= form.lines; line += 8) {
      for (std::uint32_t at = 0; at < kChunks * form.width; at += form.width) {
        const OperandPart part = part_of_operand(form, true, line, at);
        EXPECT_EQ(part.first, 0U);
        EXPECT_EQ(part.per_chunk, 1U);
        const std::uint32_t group = 8 * form.line_bytes();
        for (std::uint32_t step = 0; line + step * 16 + 16 <= form.lines; ++step) {
          for (std::uint32_t k = 0; k < 16; ++k) {
            for (std::uint32_t col = 0; at + col < kChunks * form.width; ++col) {
              const std::uint32_t address = part.start + step * part.chunk + k / 8 * group + k % 8 * form.line_bytes() +
                                            col / form.width * part.leading + col % form.width * 2;
              ASSERT_EQ(exchanged(address, form.line_bytes()), form.offset(line + step * 16 + k, at + col));
            }
          }
        }
      }
    }
  }
}

TEST(OperandForm, ChunksAreAsWideAsLinesAllow) {
  EXPECT_EQ(baton::kernel::chunk_width(64), 64U);
  EXPECT_EQ(baton::kernel::chunk_width(192), 64U);
  EXPECT_EQ(baton::kernel::chunk_width(96), 32U);
  EXPECT_EQ(baton::kernel::chunk_width(80), 16U);
}

}  // namespace
