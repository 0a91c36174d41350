// The numbers of element and scalar types.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <tensor.h>
#include <baton/kernel_abi.hpp>
#include <type_traits>

namespace baton::kernel {

static_assert(static_cast<uint32_t>(DataType::FLOAT32) == BATON_TYPE_FLOAT32);
static_assert(static_cast<uint32_t>(DataType::BFLOAT16) == BATON_TYPE_BFLOAT16);
static_assert(static_cast<uint32_t>(DataType::UINT16) == BATON_TYPE_UINT16);
static_assert(static_cast<uint32_t>(DataType::BOOL) == BATON_TYPE_BOOL);

template <typename Integer>
constexpr AICORE BatonType integer_type() {
  constexpr bool kSigned = std::is_signed_v<Integer>;
  switch (sizeof(Integer)) {
    case 1: return kSigned ? BATON_TYPE_INT8 : BATON_TYPE_UINT8;
    case 2: return kSigned ? BATON_TYPE_INT16 : BATON_TYPE_UINT16;
    case 4: return kSigned ? BATON_TYPE_INT32 : BATON_TYPE_UINT32;
    default: return kSigned ? BATON_TYPE_INT64 : BATON_TYPE_UINT64;
  }
}

/// The number of a type; BATON_TYPE_BYTES for those that have none.
template <typename Type>
constexpr AICORE BatonType type_of() {
  if constexpr (std::is_same_v<Type, float>) {
    return BATON_TYPE_FLOAT32;
  } else if constexpr (std::is_same_v<Type, half>) {
    return BATON_TYPE_FLOAT16;
  } else if constexpr (std::is_same_v<Type, bfloat16_t>) {
    return BATON_TYPE_BFLOAT16;
  } else if constexpr (std::is_same_v<Type, double>) {
    return BATON_TYPE_FLOAT64;
  } else if constexpr (std::is_same_v<Type, bool>) {
    return BATON_TYPE_BOOL;
  } else if constexpr (std::is_integral_v<Type>) {
    return integer_type<Type>();
  } else if constexpr (std::is_pointer_v<Type>) {
    return BATON_TYPE_POINTER;
  } else {
    return BATON_TYPE_BYTES;
  }
}

template <typename Type>
inline constexpr bool is_tensor_element = type_of<Type>() <= BATON_TYPE_BOOL;

}  // namespace baton::kernel
