#include <baton/dtype.hpp>

namespace baton {

std::string_view name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::float32: return "float32";
    case DType::float16: return "float16";
    case DType::int32: return "int32";
    case DType::int16: return "int16";
    case DType::int8: return "int8";
    case DType::uint8: return "uint8";
    case DType::bfloat16: return "bfloat16";
    case DType::int64: return "int64";
    case DType::uint64: return "uint64";
    case DType::uint16: return "uint16";
    case DType::uint32: return "uint32";
    case DType::boolean: return "bool";
  }
  return "unknown";
}

}  // namespace baton
