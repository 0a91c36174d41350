#include "chip/cores/sim/tile_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/fail.hpp"

namespace baton::chip {
namespace {

std::string path_of(std::string path, const DumpOrigin& origin) {
  const std::pair<std::string_view, const std::string&> words[] = {
      {"{rank}", origin.rank}, {"{core}", origin.core}, {"{kernel}", origin.kernel}, {"{block}", origin.block}};
  for (const auto& [word, value] : words) {
    for (std::size_t at = path.find(word); at != std::string::npos; at = path.find(word, at + value.size())) {
      path.replace(at, word.size(), value);
    }
  }
  return path;
}

/// Version 1.0 of the format: a magic number, the length of a Python literal, that literal, padded so that the elements
/// begin at a multiple of 64.
std::string header_of(const BatonDump& dump) {
  constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
  std::string literal =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", dump.type, dump.rows, dump.cols);
  const std::size_t fixed = kMagic.size() + 2;
  literal.append(63 - (fixed + literal.size()) % 64, ' ').push_back('\n');
  std::string header(kMagic);
  header.push_back(static_cast<char>(literal.size() & 0xffU));
  header.push_back(static_cast<char>(literal.size() >> 8U));
  return header + literal;
}

}  // namespace

void write_tile_file(const BatonDump& dump, const DumpOrigin& origin) {
  const std::string path = path_of(dump.path, origin);
  const std::string header = header_of(dump);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wbe"), std::fclose);
  if (!file) fail_system(fmt::format("opening {} for a tile", path));
  const std::size_t count = static_cast<std::size_t>(dump.rows * dump.cols);
  const bool written = std::fwrite(header.data(), 1, header.size(), file.get()) == header.size() &&
                       (count == 0 || std::fwrite(dump.elements, dump.element_bytes, count, file.get()) == count);
  const int error_number = errno;
  if (std::fclose(file.release()) != 0 || !written) {
    fail_system(fmt::format("writing a tile to {}", path), written ? errno : error_number);
  }
}

}  // namespace baton::chip
