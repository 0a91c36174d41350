// Looking at tiles: TPRINT shows one, TDUMP writes one into a file of NumPy's.
//
// Not work of a pipe: they show what the instructions before them have computed, whatever flags are set.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/fifo.hpp>
#include <pto/instructions/operands.hpp>

#if !defined(__CUDACC__)
#include <stdio.h>
#include <string.h>
#endif

namespace pto {

/// How much of a tile TPRINT shows, and how.
struct PrintOptions {
  int rows = 16;
  int columns = 16;
  /// One conversion of printf for a double: "%8.3f". Null: as short as six digits allow; whole numbers as they are.
  const char* format = nullptr;
};

}  // namespace pto

namespace baton::kernel {

#if defined(__CUDACC__)

template <typename TileData>
AICORE void print_tile(const BatonPlace& place, const TileData&, const pto::PrintOptions&) {
  fail(place, BATON_KERNEL_UNSUPPORTED, "tiles can be shown on simulated cores only");
}
template <typename TileData>
AICORE void dump_tile(const BatonPlace& place, const TileData&, const char*) {
  fail(place, BATON_KERNEL_UNSUPPORTED, "tiles can be written into files on simulated cores only");
}

#else

/// Whether `format` has one conversion of a double and nothing that takes another argument.
inline bool converts_a_double(const char* format) {
  int conversions = 0;
  for (const char* at = format; *at != '\0'; ++at) {
    if (*at != '%') continue;
    if (*++at == '%') continue;
    at += strspn(at, "-+ #0123456789.");
    if (*at == '\0' || strchr("aAeEfFgG", *at) == nullptr) return false;
    ++conversions;
  }
  return conversions == 1;
}

/// A number as text. Kernels read these headers each time they are compiled, so there is no std::string here.
struct Digits {
  char text[512];
};

template <typename Element>
Digits digits_of(Element value, const char* format) {
  Digits digits;
  const auto number = static_cast<Computed<Element> >(value);
  if (format != nullptr) {
    // NOLINTNEXTLINE(cert-*,clang-diagnostic-format-nonliteral): converts_a_double() has looked at it
    snprintf(digits.text, sizeof digits.text, format, static_cast<double>(number));
  } else if constexpr (!is_whole<Element>) {
    snprintf(digits.text, sizeof digits.text, "%g", static_cast<double>(number));
  } else if constexpr (std::is_signed_v<Element>) {
    snprintf(digits.text, sizeof digits.text, "%lld", static_cast<long long>(number));
  } else {
    snprintf(digits.text, sizeof digits.text, "%llu", static_cast<unsigned long long>(number));
  }
  return digits;
}

/// Shows words as they come; the core puts lines together.
inline void show(const char* words) {
  BatonCore& core = current_core();
  core.table->print(&core, BATON_STANDARD_OUTPUT, words, strlen(words));
}

template <typename TileData>
PTO_COLD void print_tile(const BatonPlace& place, const TileData& tile, const pto::PrintOptions& options) {
  check_tile(place, "the tile", tile);
  if (options.format != nullptr && !converts_a_double(options.format)) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "\"", options.format,
         "\" is not one conversion of printf for a double, such as %8.3f");
  }
  PTO_INSTRUCTION_BOUNDARY();
  const int rows = options.rows < tile.GetValidRow() ? options.rows : tile.GetValidRow();
  const int cols = options.columns < tile.GetValidCol() ? options.columns : tile.GetValidCol();
  size_t width = 0;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      const size_t length = strlen(digits_of(*element_at(tile, row, col), options.format).text);
      if (length > width) width = length;
    }
  }
  Message head;
  const MessagePart parts[] = {
      name_of(static_cast<uint32_t>(TileData::Loc)), " tile, ", tile.GetValidRow(), " x ", tile.GetValidCol(), " of ",
      element_name<typename TileData::DType>()};
  for (const MessagePart& part : parts) head.add(part);
  if (place.line != 0) {
    const MessagePart where[] = {", ", place.file, ":", place.line};
    for (const MessagePart& part : where) head.add(part);
  }
  show(head.text());
  show("\n");
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      const Digits digits = digits_of(*element_at(tile, row, col), options.format);
      for (size_t blanks = width - strlen(digits.text) + (col == 0 ? 2 : 1); blanks > 0; --blanks) show(" ");
      show(digits.text);
    }
    show(cols < tile.GetValidCol() ? " ...\n" : "\n");
  }
  if (rows < tile.GetValidRow()) show("  ...\n");
}

/// NumPy's word for an element. It has none for bfloat16, which becomes float.
template <typename Element>
constexpr const char* numpy_type() {
  if constexpr (std::is_same_v<Element, half>) return "<f2";
  if constexpr (is_one_of<Element, float, bfloat16_t>) return "<f4";
  constexpr const char* kSigned[] = {"|i1", "<i2", "<i4", "<i8"};
  constexpr const char* kUnsigned[] = {"|u1", "<u2", "<u4", "<u8"};
  constexpr int kSize = sizeof(Element) == 1 ? 0 : sizeof(Element) == 2 ? 1 : sizeof(Element) == 4 ? 2 : 3;
  return std::is_signed_v<Element> ? kSigned[kSize] : kUnsigned[kSize];
}

template <typename TileData>
PTO_COLD void dump_tile(const BatonPlace& place, const TileData& tile, const char* path) {
  using Element = typename TileData::DType;
  using Written = std::conditional_t<std::is_same_v<Element, bfloat16_t>, float, Element>;
  check_tile(place, "the tile", tile);
  PTO_INSTRUCTION_BOUNDARY();
  struct Elements {
    Written* first;
    ~Elements() { delete[] first; }
  };
  const Elements elements{new Written[static_cast<size_t>(TileData::Numel)]};
  size_t count = 0;
  for (int row = 0; row < tile.GetValidRow(); ++row) {
    for (int col = 0; col < tile.GetValidCol(); ++col) {
      elements.first[count++] = static_cast<Written>(*element_at(tile, row, col));
    }
  }
  const BatonDump dump{path,
                       numpy_type<Element>(),
                       elements.first,
                       static_cast<uint64_t>(tile.GetValidRow()),
                       static_cast<uint64_t>(tile.GetValidCol()),
                       sizeof(Written),
                       0};
  BatonCore& core = current_core();
  core.table->dump(&core, &dump, &place);
}

#endif

}  // namespace baton::kernel

namespace pto {

/// Shows the valid region of a tile on standard output: rows, columns and the format as `options` say.
template <typename TileData>
AICORE void TPRINT(const TileData& tile, const PrintOptions& options = {},
                   baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::print_tile(baton::kernel::place_of("TPRINT", where), tile, options);
}

/// Writes the valid region of a tile into `path`, a file of NumPy's. {rank}, {core}, {kernel} and {block} in it stand
/// for where the kernel runs.
template <typename TileData>
AICORE void TDUMP(const TileData& tile, const char* path,
                  baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::dump_tile(baton::kernel::place_of("TDUMP", where), tile, path);
}

}  // namespace pto
