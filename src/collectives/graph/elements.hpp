// The elements of tensors as those of collectives.
#pragma once

#include <baton/collective_types.hpp>
#include <baton/dtype.hpp>
#include <baton/tensor.hpp>

namespace baton::collectives {

[[nodiscard]] constexpr Element element_of(DType dtype) {
  switch (dtype) {
    case DType::float32: return Element::float32;
    case DType::float16: return Element::float16;
    case DType::bfloat16: return Element::bfloat16;
    case DType::int8: return Element::int8;
    case DType::int16: return Element::int16;
    case DType::int32: return Element::int32;
    case DType::int64: return Element::int64;
    case DType::uint8:
    case DType::boolean: return Element::uint8;
    case DType::uint16: return Element::uint16;
    case DType::uint32: return Element::uint32;
    case DType::uint64: return Element::uint64;
  }
  return Element::uint8;
}

/// Where the first of them lies.
[[nodiscard]] inline const std::byte* address_of(const Tensor& tensor) noexcept {
  return reinterpret_cast<const std::byte*>(tensor.address());
}

/// Of one whose elements follow each other.
[[nodiscard]] inline std::size_t bytes_of(const Tensor& tensor) noexcept {
  return static_cast<std::size_t>(tensor.element_count()) * size_of(tensor.dtype());
}

}  // namespace baton::collectives
