#include "chip/cores/npy_file.hpp"

#include <cerrno>

#include <fmt/ranges.h>

#include "base/fail.hpp"

namespace baton::chip {
namespace {

/// Version 1.0 of the format: a magic number, the length of a Python literal, that literal, padded so that the elements
/// begin at a multiple of 64.
std::string header_of(std::string_view type, std::span<const std::int64_t> shape) {
  constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
  // A tuple of one number ends with a comma.
  std::string literal = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                    fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const std::size_t fixed = kMagic.size() + 2;
  literal.append(63 - (fixed + literal.size()) % 64, ' ').push_back('\n');
  std::string header(kMagic);
  header.push_back(static_cast<char>(literal.size() & 0xffU));
  header.push_back(static_cast<char>(literal.size() >> 8U));
  return header + literal;
}

}  // namespace

NpyFile::NpyFile(const std::string& path, std::string_view type, std::span<const std::int64_t> shape)
    : path_(path), file_(std::fopen(path.c_str(), "wbe"), std::fclose) {
  if (!file_) fail_system(fmt::format("opening {}", path_));
  const std::string header = header_of(type, shape);
  write(header.data(), header.size());
}

void NpyFile::write(const void* elements, std::size_t bytes) {
  if (bytes != 0 && std::fwrite(elements, 1, bytes, file_.get()) != bytes) {
    fail_system(fmt::format("writing to {}", path_));
  }
}

void NpyFile::close() {
  if (std::fclose(file_.release()) != 0) fail_system(fmt::format("writing to {}", path_));
}

}  // namespace baton::chip
