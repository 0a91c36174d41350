// Element types in the languages of Python, of the buffer protocol and of DLPack.
#include "dtype.hpp"

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::python {

std::optional<DType> dtype_of_format(const char* format) {
  if (format == nullptr) return DType::uint8;
  while (*format == '@' || *format == '=' || *format == '<') ++format;
  if (std::strlen(format) != 1) return std::nullopt;
  switch (*format) {
    case 'f': return DType::float32;
    case 'e': return DType::float16;
    case 'i': return DType::int32;
    case 'h': return DType::int16;
    case 'b': return DType::int8;
    case 'B':
    case 'c': return DType::uint8;
    case 'l':
    case 'q': return DType::int64;
    case 'L':
    case 'Q': return DType::uint64;
    case 'H': return DType::uint16;
    case 'I': return DType::uint32;
    case '?': return DType::boolean;
    default: return std::nullopt;
  }
}

std::optional<DType> dtype_of_dlpack(nb::dlpack::dtype given) {
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (given == dlpack_of(dtype)) return dtype;
  }
  return std::nullopt;
}

DType dtype_named(const std::string& name) {
  std::string all;
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (name_of(dtype) == name) return dtype;
    all += (number == 0 ? "" : ", ") + std::string(name_of(dtype));
  }
  throw Error(Code::invalid_argument, fmt::format("there is no dtype '{}'", name), {"there are " + all});
}

nb::dlpack::dtype dlpack_of(DType dtype) noexcept {
  auto code = nb::dlpack::dtype_code::UInt;
  const std::string_view name = name_of(dtype);
  if (name.starts_with("float")) code = nb::dlpack::dtype_code::Float;
  if (name.starts_with("int")) code = nb::dlpack::dtype_code::Int;
  if (name.starts_with("bfloat")) code = nb::dlpack::dtype_code::Bfloat;
  if (name == "bool") code = nb::dlpack::dtype_code::Bool;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

const char* format_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::float32: return "f";
    case DType::float16: return "e";
    case DType::int32: return "i";
    case DType::int16: return "h";
    case DType::int8: return "b";
    case DType::uint8: return "B";
    case DType::int64: return "q";
    case DType::uint64: return "Q";
    case DType::uint16: return "H";
    case DType::uint32: return "I";
    case DType::boolean: return "?";
    case DType::bfloat16: return nullptr;
  }
  return nullptr;
}

}  // namespace baton::python
