// The types of elements, by number.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <baton/collective_types.hpp>
#include <pto/common/elements.hpp>

namespace baton::kernel {

/// The element of a type that kernels use.
template <typename T>
AICORE constexpr Element element_of() {
  if constexpr (std::is_same_v<T, float>) {
    return Element::float32;
  } else if constexpr (std::is_same_v<T, half>) {
    return Element::float16;
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
    return Element::bfloat16;
  } else {
    static_assert(std::is_integral_v<T>, "elements are float, half, bfloat16_t and integers");
    constexpr bool kSigned = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1: return kSigned ? Element::int8 : Element::uint8;
      case 2: return kSigned ? Element::int16 : Element::uint16;
      case 4: return kSigned ? Element::int32 : Element::uint32;
      default: return kSigned ? Element::int64 : Element::uint64;
    }
  }
}

}  // namespace baton::kernel
